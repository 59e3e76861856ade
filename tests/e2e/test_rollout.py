"""`failurePolicy` on a real cluster (D28): what fails goes back to what was healthy, and stays there until a fix."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from convoy.api.names import SYNC_REQUESTED_AT
from convoy.api.objects import Manifest, ObjectKey
from tests.e2e.gated import make_ready
from tests.e2e.harness.convoy import Convoy, condition_of
from tests.e2e.hooked import FAILS, GO, job, placed, runs
from tests.e2e.tenant import Tenant, applied_of, config_map, is_settled
from tests.e2e.test_events_of_a_release import told
from tests.e2e.workloads import READY_AT
from workflows.contract import ReleaseId

GOOD, FIX = "docker.io/library/web:1", "docker.io/library/web:3"
BAD, LATE = "fake.local/never-ready:2", "docker.io/library/web:2"
PRUNE = {"prune": {"orphaned": True}}
LONG, SHORT = "10m", "2s"


def policy(timeout: str, action: str = "Rollback") -> dict[str, Any]:
    return {"failurePolicy": {"action": action, "healthTimeout": timeout}}


def web(namespace: str, image: str) -> str:
    """Return a Deployment; one of the image LATE waits for a node."""
    selector = f"nodeSelector: {{{READY_AT}: {namespace}}}, " if image == LATE else ""
    return (
        f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web, namespace: {namespace}}}\n"
        "spec:\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n"
        f"    spec: {{{selector}containers: [{{name: web, image: '{image}'}}]}}\n"
    )


async def healthy(tenant: Tenant, *, action: str = "Rollback", **more: Any) -> str:
    """Roll the good render out, with the object `old`; returns its ref once it is healthy."""
    files = {"web.yaml": web(tenant.namespace, GOOD), "old.yaml": config_map("old", tenant.namespace)}
    more = {"policy": PRUNE} | more
    await tenant.release("app", files, **policy(LONG, action), **more)
    if more["policy"].get("automatic") is False:
        await tenant.applied("app", "WaitingForSync")
        await tenant.sync("app")
    return rollout_of(await rolled(tenant, "Healthy"))["renderRef"]


async def push(
    tenant: Tenant, image: str, timeout: str, action: str = "Rollback", *, pre_sync: Sequence[Any] = ()
) -> None:
    """Change the image, put the object `new` in the place of `old`, and set the preSync hooks."""
    files = {
        "web.yaml": web(tenant.namespace, image),
        "old.yaml": None,
        "new.yaml": config_map("new", tenant.namespace),
    }
    spec = {"source": {"inline": {"files": files}}} | policy(timeout, action)
    await tenant.patch("app", {"spec": spec, "lifecycle": {"preSync": placed(tenant, pre_sync)}})


async def rolled(tenant: Tenant, phase: str, *, settled: bool = True) -> Manifest:
    """Return the Release once its rollout is in a phase and the pass that brought it there has ended."""

    def is_there(tree: Manifest) -> bool:
        status = tree.get("status") or {}
        return rollout_of(tree).get("phase") == phase and (
            not settled or "settledAt" in status.get("sync", {})
        )

    return await tenant.until("app", is_there, f"rollout {phase}")


async def back(tenant: Tenant, ref: str) -> Manifest:
    """Return the Release once it is rolled back and this render is applied."""
    return await tenant.until(
        "app",
        lambda tree: rollout_of(tree).get("phase") == "RolledBack" and successful(tree) == ref,
        f"the rollback to {ref}",
    )


def rollout_of(tree: Manifest) -> dict[str, str]:
    rollout: dict[str, str] = (tree.get("status") or {}).get("rollout") or {}
    return rollout


def successful(tree: Manifest) -> str:
    return str(((tree.get("status") or {}).get("lastSuccessful") or {}).get("renderRef"))


def works(tree: Manifest) -> bool:
    return all(condition_of(tree, kind).get("status") == "True" for kind in ("Applied", "Healthy"))


def is_ready(tree: Manifest) -> bool:
    return summary_of(tree) == {"Ready": "True", "Reconciling": "False", "Stalled": "False"}


def summary_of(tree: Manifest) -> dict[str, str]:
    return {kind: condition_of(tree, kind)["status"] for kind in ("Ready", "Reconciling", "Stalled")}


async def image(convoy: Convoy, tenant: Tenant) -> str:
    live = await convoy.objects.get(ObjectKey("apps", "Deployment", tenant.namespace, "web"))
    return str(live["spec"]["template"]["spec"]["containers"][0]["image"]) if live is not None else ""


async def test_a_render_that_does_not_become_healthy_goes_back_and_a_fix_is_rolled_out(
    convoy: Convoy, tenant: Tenant
) -> None:
    good = await healthy(tenant)
    first = await tenant.get("app")
    assert rollout_of(first)["lastHealthyRenderRef"] == good
    assert first["status"]["history"][0]["healthyAt"]

    await push(tenant, BAD, SHORT)
    tree = await back(tenant, good)

    bad = rollout_of(tree)["renderRef"]
    assert bad != good
    assert rollout_of(tree)["lastHealthyRenderRef"] == good
    message = rollout_of(tree)["message"]
    revisions = {each["renderRef"]: each["revision"] for each in tree["status"]["history"]}
    assert f"The render {bad[:19]} ({revisions[bad]}) was not applied and healthy within 2s: " in message
    assert f"Deployment.apps {tenant.namespace}/web" in message
    assert f"The last healthy render {good[:19]} ({revisions[good]}) takes its place" in message
    assert f"kubectl convoy release sync app -n {tenant.namespace} --force" in message
    assert await image(convoy, tenant) == GOOD
    assert await tenant.config_map("old") is not None
    assert await tenant.config_map("new") is None, "a rollback prunes by the same rules"
    assert [entry["renderRef"] for entry in tree["status"]["history"]] == [good, bad, good]
    assert "healthyAt" not in tree["status"]["history"][1]

    # Drift and preview follow the same render, and nothing moves it.
    assert (await convoy.check(ReleaseId(tenant.namespace, "app"))).verdict == "InSync"
    await tenant.in_sync("app")
    await tenant.sync("app")
    await tenant.applied("app")
    assert await image(convoy, tenant) == GOOD
    events = await told(tenant, "app", "RolloutHealthy", "RolledBack")
    assert events["RolledBack"][0]["type"] == "Warning"

    # What is applied works, and yet the Release is not what its source says.
    tree = await tenant.until("app", works, "what is back to be healthy")
    assert summary_of(tree) == {"Ready": "False", "Reconciling": "False", "Stalled": "True"}
    for kind in ("Ready", "Stalled"):
        told_by = condition_of(tree, kind)
        assert (told_by["reason"], told_by["message"]) == ("RolledBack", rollout_of(tree)["message"])

    await push(tenant, FIX, LONG)
    tree = await rolled(tenant, "Healthy")
    await tenant.until("app", is_ready, "Ready")
    assert rollout_of(tree)["renderRef"] not in (good, bad)
    assert await image(convoy, tenant) == FIX
    assert await tenant.config_map("new") is not None


async def test_a_forced_sync_tries_the_failed_render_again(convoy: Convoy, tenant: Tenant) -> None:
    good = await healthy(tenant)
    await push(tenant, BAD, SHORT)
    bad = rollout_of(await back(tenant, good))["renderRef"]

    await tenant.patch("app", {"spec": policy(LONG)})
    await tenant.applied("app")
    await tenant.sync("app", force=True)
    tree = await rolled(tenant, "Progressing")
    assert rollout_of(tree)["renderRef"] == successful(tree) == bad
    assert await image(convoy, tenant) == BAD

    await tenant.patch("app", {"spec": policy(SHORT)})
    await back(tenant, good)
    assert await image(convoy, tenant) == GOOD


async def test_hold_leaves_the_failed_render_as_it_is(convoy: Convoy, tenant: Tenant) -> None:
    good = await healthy(tenant, action="Hold")

    await push(tenant, BAD, SHORT, "Hold")
    tree = await rolled(tenant, "Failed")

    assert "Nothing is rolled back: failurePolicy.action is Hold. " in rollout_of(tree)["message"]
    assert rollout_of(tree)["lastHealthyRenderRef"] == good
    assert condition_of(tree, "Ready")["reason"] == condition_of(tree, "Stalled")["reason"] == "RolloutFailed"
    assert await image(convoy, tenant) == BAD
    await tenant.sync("app")
    await tenant.applied("app")
    assert rollout_of(await rolled(tenant, "Failed")) == rollout_of(tree), "until there is another render"

    await push(tenant, FIX, LONG, "Hold")
    await rolled(tenant, "Healthy")


async def test_in_manual_mode_a_rollback_waits_for_a_sync(convoy: Convoy, tenant: Tenant) -> None:
    good = await healthy(tenant, policy=PRUNE | {"automatic": False})
    await push(tenant, BAD, SHORT)
    await tenant.applied("app", "WaitingForSync")
    await tenant.sync("app")

    tree = await rolled(tenant, "RolledBack")
    tree = await tenant.applied("app", "WaitingForSync")
    assert f"The render {good[:19]} waits for /sync" in applied_of(tree)["message"]
    assert await image(convoy, tenant) == BAD

    await tenant.sync("app")
    await back(tenant, good)
    assert await image(convoy, tenant) == GOOD


async def test_a_failed_render_that_recovers_brings_nothing_back_unasked(
    convoy: Convoy, tenant: Tenant
) -> None:
    await healthy(tenant, policy=PRUNE | {"automatic": False})
    await push(tenant, LATE, SHORT)
    await tenant.applied("app", "WaitingForSync")
    requested = await tenant.sync("app")
    await rolled(tenant, "RolledBack")

    await make_ready(convoy, tenant)
    await tenant.until("app", lambda tree: condition_of(tree, "Healthy")["status"] == "True", "its health")
    tree = await tenant.applied("app", "WaitingForSync")
    assert tree["metadata"]["annotations"][SYNC_REQUESTED_AT] == requested
    assert rollout_of(tree)["phase"] == "RolledBack", "a person decides which of the two it is"
    assert await image(convoy, tenant) == LATE


async def test_nothing_is_rolled_back_away_from_a_pin(convoy: Convoy, tenant: Tenant) -> None:
    await healthy(tenant, action="Hold")
    await push(tenant, BAD, SHORT, "Hold")
    bad = rollout_of(await rolled(tenant, "Failed"))["renderRef"]
    await push(tenant, FIX, LONG)
    fix = rollout_of(await rolled(tenant, "Healthy"))["renderRef"]

    await tenant.patch("app", {"pin": {"renderRef": bad}, "spec": policy(SHORT)})
    await tenant.sync("app")
    tree = await rolled(tenant, "Failed")
    assert rollout_of(tree)["renderRef"] == bad
    assert rollout_of(tree)["lastHealthyRenderRef"] == fix
    assert "Nothing is rolled back: the Release is pinned" in rollout_of(tree)["message"]
    assert await image(convoy, tenant) == BAD

    await tenant.patch("app", {"pin": None, "spec": policy(LONG)})
    await tenant.sync("app")
    tree = await rolled(tenant, "Healthy")
    assert rollout_of(tree)["renderRef"] == fix


async def test_a_render_that_the_cluster_rejects_fails_too_and_the_message_says_it(
    convoy: Convoy, tenant: Tenant
) -> None:
    good = await healthy(tenant)
    wrong = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: Not-A-Name}\n"
    await tenant.patch(
        "app", {"spec": policy(SHORT) | {"source": {"inline": {"files": {"new.yaml": wrong}}}}}
    )

    tree = await rolled(tenant, "RolledBack")
    assert "within 2s: Unappliable: " in rollout_of(tree)["message"]
    assert "ConfigMap default/Not-A-Name" in rollout_of(tree)["message"]
    tree = await tenant.applied("app")
    assert successful(tree) == good


@pytest.mark.parametrize(
    "automatic", [True, False], ids=["automatic", "manual: its request is still pending"]
)
async def test_a_rollback_ends_the_wait_at_the_gate_of_a_wave(
    convoy: Convoy, tenant: Tenant, automatic: bool
) -> None:
    def files(image: str, version: str) -> dict[str, Any]:
        late = config_map("late", tenant.namespace, wave=1, v=version)
        return {"web.yaml": web(tenant.namespace, image), "late.yaml": late}

    gate = [{"wave": 1, "strategy": "Health", "timeout": "10m"}]
    await tenant.release("app", files(GOOD, "1"), **policy(LONG), syncWaves=gate)
    good = rollout_of(await rolled(tenant, "Healthy"))["renderRef"]
    await tenant.applied("app")  # the sync that health asked for too, which would let the next render through

    source = {"source": {"inline": {"files": files(BAD, "2")}}}
    await tenant.patch("app", {"spec": source | policy(SHORT) | {"syncPolicy": {"automatic": automatic}}})
    if not automatic:
        await tenant.applied("app", "WaitingForSync")
        await tenant.sync("app")
    tree = await rolled(tenant, "RolledBack")
    assert "within 2s: WaitingForWave: " in rollout_of(tree)["message"]

    tree = await tenant.applied("app")
    assert successful(tree) == good
    assert await image(convoy, tenant) == GOOD
    late = await tenant.config_map("late")
    assert late is not None
    assert late["data"] == {"v": "1"}, "the second wave of the failed render never began"
    assert len(tree["status"]["history"]) == 1


async def test_a_failed_presync_hook_rolls_back_at_once_and_hooks_nothing_again(
    convoy: Convoy, tenant: Tenant
) -> None:
    good = await healthy(tenant)
    await push(tenant, FIX, LONG, pre_sync=[job("migrate", FAILS)])

    tree = await back(tenant, good)
    assert "failed at a preSync hook: " in rollout_of(tree)["message"]
    assert "migrate" in rollout_of(tree)["message"]
    assert "run it again" not in rollout_of(tree)["message"], "a plain sync applies what is back"
    tree = await tenant.applied("app")
    assert runs(tree) == {"migrate": ("Failed", 1)}, "not for the render that is back: it had its hooks"
    assert await image(convoy, tenant) == GOOD
    assert await tenant.config_map("new") is None


async def test_a_forced_sync_whose_hook_fails_has_failed_though_what_was_applied_before_is_healthy(
    convoy: Convoy, tenant: Tenant
) -> None:
    good = await healthy(tenant)
    failing = placed(tenant, [job("migrate", FAILS)])
    await tenant.patch("app", {"lifecycle": {"preSync": failing}})

    await tenant.sync("app", force=True)

    tree = await rolled(tenant, "Failed")
    assert rollout_of(tree)["renderRef"] == successful(tree) == good
    assert "failed at a preSync hook: " in rollout_of(tree)["message"]


async def test_the_time_that_a_person_takes_to_approve_does_not_count(convoy: Convoy, tenant: Tenant) -> None:
    await healthy(tenant)
    await push(tenant, FIX, SHORT, pre_sync=[GO])
    tree = await tenant.applied("app", "WaitingForApproval")
    begun = rollout_of(tree)
    await asyncio.sleep(4)
    await tenant.sync("app")  # a pass that looks at the rollout, as a tick makes one
    tree = await tenant.until(
        "app", lambda tree: is_settled(tree) and rollout_of(tree) != begun, "a clock that is set back"
    )
    assert applied_of(tree)["reason"] == "WaitingForApproval"
    assert rollout_of(tree)["phase"] == "Progressing"
    assert rollout_of(tree)["startedAt"] > begun["startedAt"]
    assert await image(convoy, tenant) == GOOD


async def test_a_failed_postsync_hook_changes_nothing(convoy: Convoy, tenant: Tenant) -> None:
    await healthy(tenant)
    post_sync = placed(tenant, [job("smoke", FAILS)])
    await tenant.patch("app", {"lifecycle": {"postSync": post_sync}})
    await push(tenant, FIX, LONG)
    await tenant.until("app", lambda tree: runs(tree) == {"smoke": ("Failed", 1)}, "the failed hook")
    await rolled(tenant, "Healthy")
    assert await image(convoy, tenant) == FIX


async def test_a_chart_with_random_values_fails_once_and_not_at_each_pass(
    convoy: Convoy, tenant: Tenant
) -> None:
    files = {
        "Chart.yaml": "apiVersion: v2\nname: web\nversion: 0.1.0\n",
        "templates/web.yaml": web(tenant.namespace, "{{ .Values.image }}"),
        "templates/password.yaml": config_map("made-up", tenant.namespace, v="{{ randAlphaNum 20 }}"),
    }
    chart: dict[str, Any] = {"content": {"manifests": None, "helm": {"values": {"image": GOOD}}}}
    await tenant.release("app", files, **policy(LONG), **chart)
    good = rollout_of(await rolled(tenant, "Healthy"))["renderRef"]
    password = await tenant.config_map("made-up")
    chart["content"]["helm"] = {"values": {"image": BAD}}
    await tenant.patch("app", {"spec": chart | policy(SHORT)})
    failed = rollout_of(await back(tenant, good))

    for _ in range(3):
        await tenant.sync("app")
        tree = await tenant.applied("app")
        assert rollout_of(tree) == failed, "equal inputs give the remembered render (D5)"
        assert successful(tree) == good
    back_again = await tenant.config_map("made-up")
    assert password is not None
    assert back_again is not None
    assert back_again["data"] == password["data"]


async def test_a_policy_that_is_new_finds_the_applied_render_healthy(tenant: Tenant) -> None:
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace)})
    ref = successful(await tenant.applied("app"))

    await tenant.patch("app", {"spec": policy(LONG)})
    rollout = rollout_of(await rolled(tenant, "Healthy"))
    assert (rollout["renderRef"], rollout["lastHealthyRenderRef"]) == (ref, ref)


async def test_a_broken_source_ends_no_rollback_and_is_told(convoy: Convoy, tenant: Tenant) -> None:
    good = await healthy(tenant)
    await push(tenant, BAD, SHORT)
    await back(tenant, good)

    await tenant.files("app", {"web.yaml": "no manifest: ["})
    tree = await tenant.until(
        "app", lambda tree: "Meanwhile" in rollout_of(tree)["message"], "the fault of the source"
    )
    assert "Meanwhile the source gives no render: Unsupported: web.yaml" in rollout_of(tree)["message"]
    assert rollout_of(tree)["phase"] == "RolledBack"
    await tenant.applied("app")
    assert await image(convoy, tenant) == GOOD


async def test_without_its_policy_a_release_goes_back_to_what_its_source_gives(
    convoy: Convoy, tenant: Tenant
) -> None:
    good = await healthy(tenant)
    await push(tenant, BAD, SHORT)
    await back(tenant, good)

    await tenant.patch("app", {"spec": {"failurePolicy": None}})
    tree = await tenant.applied("app")
    assert rollout_of(tree) == {}
    assert await image(convoy, tenant) == BAD


async def test_the_time_that_a_release_is_suspended_does_not_count(convoy: Convoy, tenant: Tenant) -> None:
    good = await healthy(tenant)
    await push(tenant, BAD, LONG)
    await rolled(tenant, "Progressing")
    await tenant.patch("app", {"spec": {"suspend": True} | policy(SHORT)})
    await tenant.applied("app", "Suspended")
    await asyncio.sleep(4)
    await tenant.sync("app")
    tree = await tenant.applied("app", "Suspended")
    assert rollout_of(tree)["phase"] == "Progressing"

    await tenant.patch("app", {"spec": {"suspend": False}})
    await back(tenant, good)


async def test_a_rollback_whose_render_is_missing_for_a_moment_applies_nothing(
    convoy: Convoy, tenant: Tenant
) -> None:
    good = await healthy(tenant, policy=PRUNE | {"retryBackoff": {"initial": "1s", "factor": 1}})
    await push(tenant, BAD, SHORT)
    tree = await back(tenant, good)
    folder = Path(urlsplit(convoy.settings.render_store_url or "").path) / "renders" / tree["metadata"]["uid"]
    away = folder.rename(folder.with_name(f"{folder.name}-away"))

    await tenant.sync("app")
    tree = await tenant.applied("app", "DeployFailed")
    assert "rolled back to its last healthy render" in applied_of(tree)["message"]
    assert f"kubectl convoy release sync app -n {tenant.namespace} --force" in applied_of(tree)["message"]
    report = await convoy.check(ReleaseId(tenant.namespace, "app"))
    assert (report.verdict, report.heal) == ("Drifted", False)

    shutil.rmtree(folder, ignore_errors=True)
    away.rename(folder)
    tree = await tenant.applied("app")
    assert (successful(tree), rollout_of(tree)["phase"]) == (good, "RolledBack")
    assert await image(convoy, tenant) == GOOD
