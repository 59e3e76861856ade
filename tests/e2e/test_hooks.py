"""Lifecycle hooks in whole syncs (D27; `reference/apply-and-prune`, Steps of a sync)."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

from activities.services import Services
from convoy.api.names import HEALTH_REQUESTED_AT, HOOK_FINALIZER
from convoy.kube.resources import JOBS
from tests.e2e.harness.convoy import Convoy, condition_of
from tests.e2e.hooked import FAILS, HANGS, hook_of, hooked, job, jobs, new_render, runs, told
from tests.e2e.tenant import Tenant, config_map, is_settled
from tests.waiting import eventually
from workflows.contract import ReleaseId

MANUAL = {"automatic": False}


def make_old(convoy: Convoy, uid: str) -> None:
    """Have the render store hold what a Release has there for longer than a render that nobody needs stays."""
    for file in Path(urlsplit(convoy.settings.render_store_url or "").path).glob(f"renders/{uid}/*"):
        os.utime(file, (0, 0))


async def test_pre_sync_hooks_run_batch_by_batch_before_anything_is_applied(tenant: Tenant) -> None:
    await hooked(tenant, job("second", batch=1), job("a"), job("b"))

    tree = await tenant.applied("app")

    assert runs(tree) == {"a": ("Succeeded", 1), "b": ("Succeeded", 1), "second": ("Succeeded", 1)}
    first = max(hook_of(tree, name)["finishedAt"] for name in ("a", "b"))
    assert first <= hook_of(tree, "second")["startedAt"]
    box = await tenant.config_map("box")
    assert box is not None
    version = int(box["metadata"]["resourceVersion"])
    assert all(int(each["metadata"]["resourceVersion"]) < version for each in await jobs(tenant))
    events = await told(tenant)
    assert sorted(reason for reason, _ in events) == ["HookStarted"] * 3 + ["HookSucceeded"] * 3


async def test_a_sync_waits_for_a_hook_and_says_so(tenant: Tenant) -> None:
    await hooked(tenant, job("slow", HANGS))

    tree = await tenant.until(
        "app", lambda tree: condition_of(tree, "Applied").get("reason") == "WaitingForHook"
    )

    message = condition_of(tree, "Applied")["message"]
    assert f"hook slow: the Job {tenant.namespace}/app-slow-" in message
    assert await tenant.config_map("box") is None
    assert tree["status"].get("lastSuccessful") is None


async def test_no_hook_is_run_again_by_a_resync_or_by_self_heal_and_every_sync_by_a_request(
    convoy: Convoy, tenant: Tenant
) -> None:
    await hooked(tenant, job("migrate"), job("warm", runPolicy="EverySync"))
    assert runs(await tenant.applied("app")) == {"migrate": ("Succeeded", 1), "warm": ("Succeeded", 1)}
    await tenant.in_sync("app")  # by the pass behind the sync, which would heal what is changed before it
    await tenant.delete_config_map("box")

    report = await convoy.check(ReleaseId(tenant.namespace, "app"))

    assert report.verdict == "Drifted"
    await tenant.until("app", lambda tree: tree["status"]["lastAttempted"]["trigger"] == "SelfHeal")
    assert runs(await tenant.applied("app")) == {"migrate": ("Succeeded", 1), "warm": ("Succeeded", 1)}
    await tenant.sync("app")
    tree = await tenant.until("app", lambda tree: runs(tree)["warm"] == ("Succeeded", 2))
    assert runs(tree)["migrate"] == ("Succeeded", 1)
    await new_render(tenant, "2")
    tree = await tenant.until("app", lambda tree: runs(tree)["migrate"] == ("Succeeded", 2))
    assert runs(await tenant.applied("app"))["warm"] == ("Succeeded", 3)


async def test_a_failed_pre_sync_hook_stops_the_sync_and_nothing_is_applied(tenant: Tenant) -> None:
    await hooked(tenant, job("migrate", FAILS), job("later", batch=1), policy=MANUAL)
    await tenant.applied("app", "WaitingForSync")
    await tenant.sync("app")

    tree = await tenant.applied("app", "HookFailed")

    message = condition_of(tree, "Applied")["message"]
    assert message.startswith(f"hook migrate: the Job {tenant.namespace}/app-migrate-")
    assert "BackoffLimitExceeded" in message
    assert "its log cannot be read" in message, "kwok keeps no logs"
    assert message.endswith(f"run it again: kubectl convoy release sync app -n {tenant.namespace}")
    assert tree["status"]["lastAttempted"]["reason"] == "HookFailed"
    assert await tenant.config_map("box") is None
    assert runs(tree) == {"migrate": ("Failed", 1)}
    events = await told(tenant)
    assert [reason for reason, _ in events] == ["HookStarted", "HookFailed"]
    assert [note.count(f"Job {tenant.namespace}/app-migrate-") for _, note in events] == [1, 1]


async def test_a_failed_hook_is_reported_again_without_running_until_a_person_asks(tenant: Tenant) -> None:
    await hooked(tenant, job("migrate", FAILS), policy={"interval": "2s"})
    tree = await tenant.applied("app", "HookFailed")
    first = hook_of(tree, "migrate")

    passes = await tenant.passes("app")
    await tenant.until_passes("app", passes + 3)
    tree = await tenant.applied("app", "HookFailed")
    assert hook_of(tree, "migrate") == first
    assert len(await jobs(tenant)) == 1

    await tenant.sync("app")
    tree = await tenant.until("app", lambda tree: runs(tree)["migrate"] == ("Failed", 2))
    assert await tenant.config_map("box") is None


async def test_what_a_failed_hook_holds_back_is_drift_that_nobody_heals(
    convoy: Convoy, tenant: Tenant
) -> None:
    await hooked(tenant, job("migrate", FAILS))
    await tenant.applied("app", "HookFailed")
    report = await convoy.check(ReleaseId(tenant.namespace, "app"))
    assert (report.verdict, report.missing, report.heal) == ("Drifted", 1, False)


async def test_a_failed_hook_runs_again_once_it_is_mended(tenant: Tenant) -> None:
    await hooked(tenant, job("migrate", FAILS), policy={"interval": "2s"})
    await tenant.applied("app", "HookFailed")

    await tenant.patch("app", {"lifecycle": {"preSync": [job("migrate", namespace=tenant.namespace)]}})

    tree = await tenant.until("app", lambda tree: condition_of(tree, "Applied").get("status") == "True")
    assert runs(tree) == {"migrate": ("Succeeded", 2)}


async def test_a_post_sync_hook_runs_after_the_apply_and_a_failed_one_changes_nothing_but_is_seen(
    tenant: Tenant,
) -> None:
    await hooked(tenant, post=[job("smoke", FAILS), job("later", batch=1)])

    tree = await tenant.recorded("app")

    assert hook_of(tree, "smoke")["phase"] == "Failed", "step 8 follows step 7"
    assert condition_of(tree, "Applied")["status"] == "True"
    assert tree["status"]["lastSuccessful"]["renderRef"] == hook_of(tree, "smoke")["renderRef"]
    assert len(tree["status"]["history"]) == 1
    assert await tenant.config_map("box") is not None
    assert [reason for reason, _ in await told(tenant)] == ["HookStarted", "HookFailed"]
    tree = await tenant.until(
        "app", lambda tree: "BackoffLimitExceeded" in condition_of(tree, "Applied").get("message", "")
    )
    assert condition_of(tree, "Applied")["reason"] == "Applied"
    told_first = condition_of(tree, "Applied")["message"]
    passes = await tenant.passes("app")
    await tenant.patch("app", {"spec": {"syncPolicy": {"interval": "2s"}}})
    await tenant.until_passes("app", passes + 2)
    assert condition_of(await tenant.applied("app"), "Applied")["message"] == told_first, "it stays visible"
    await tenant.sync("app")
    tree = await tenant.until(
        "app", lambda tree: runs(tree).get("smoke") == ("Failed", 2), "a person's request"
    )
    assert "later" not in runs(tree)


async def test_a_render_that_the_history_has_no_room_for_leaves_the_store_behind_the_post_sync_hooks(
    convoy: Convoy, services: Services, tenant: Tenant
) -> None:
    await hooked(tenant, post=[job("smoke")])
    await tenant.patch("app", {"spec": {"historyLimit": 1}})
    tree = await tenant.recorded("app")
    uid, first = tree["metadata"]["uid"], tree["status"]["lastSuccessful"]["renderRef"]
    assert await services.renders.is_published(uid, first)
    make_old(convoy, uid)

    await new_render(tenant, "2")

    await tenant.until("app", lambda tree: runs(tree)["smoke"] == ("Succeeded", 2))
    await tenant.recorded("app")

    async def is_gone() -> bool:
        return not await services.renders.is_published(uid, first)

    await eventually(is_gone, "the render that nobody needs any more is deleted")


async def test_a_hook_that_does_not_end_fails_at_its_deadline(tenant: Tenant) -> None:
    await hooked(tenant, job("slow", HANGS, timeout="3s"))

    tree = await tenant.applied("app", "HookFailed")

    assert "slow" in condition_of(tree, "Applied")["message"]
    assert await tenant.config_map("box") is None


async def test_a_job_that_deletes_itself_as_it_ends_is_noticed_at_once(tenant: Tenant) -> None:
    await hooked(tenant, job("sweep", spec={"ttlSecondsAfterFinished": 0}))

    tree = await tenant.applied("app")

    assert runs(tree) == {"sweep": ("Succeeded", 1)}
    assert HEALTH_REQUESTED_AT in tree["metadata"]["annotations"], "the health loop saw its end, and no timer"


async def test_a_job_that_somebody_deletes_while_it_runs_is_noticed_at_once(tenant: Tenant) -> None:
    await hooked(tenant, job("slow", HANGS))
    await tenant.until("app", lambda tree: condition_of(tree, "Applied").get("reason") == "WaitingForHook")
    (running,) = await jobs(tenant)

    await tenant.home.delete(JOBS, tenant.namespace, running["metadata"]["name"])

    tree = await tenant.applied("app", "HookFailed")
    assert "it was deleted while it ran" in condition_of(tree, "Applied")["message"]
    assert HEALTH_REQUESTED_AT in tree["metadata"]["annotations"], "the health loop saw its end, and no timer"


async def test_a_newer_render_ends_the_wait_and_its_hook_runs_alone(tenant: Tenant) -> None:
    await hooked(tenant, job("migrate", HANGS))
    await tenant.until("app", lambda tree: runs(tree).get("migrate") == ("Running", 1))
    (first,) = await jobs(tenant)

    await new_render(tenant, "2")

    await tenant.until("app", lambda tree: runs(tree)["migrate"] == ("Running", 2))
    (second,) = await jobs(tenant)
    assert second["metadata"]["uid"] != first["metadata"]["uid"]


async def test_going_back_to_the_applied_render_runs_nothing_again_and_ends_what_runs(tenant: Tenant) -> None:
    await hooked(tenant, job("migrate"))
    applied = (await tenant.applied("app"))["status"]["lastSuccessful"]["renderRef"]
    await tenant.patch("app", {"lifecycle": {"preSync": [job("migrate", HANGS, namespace=tenant.namespace)]}})
    await new_render(tenant, "2")
    await tenant.until("app", lambda tree: runs(tree)["migrate"] == ("Running", 2))

    await new_render(tenant, "1")

    tree = await tenant.until("app", lambda tree: runs(tree)["migrate"] == ("Superseded", 2))
    assert hook_of(tree, "migrate")["message"] == "it was ended, since another render is wanted"
    tree = await tenant.applied("app")
    assert tree["status"]["lastSuccessful"]["renderRef"] == applied
    assert runs(tree)["migrate"] == ("Superseded", 2)
    assert await jobs(tenant) == []


async def test_a_hook_that_a_broken_render_has_ended_runs_again_for_the_one_before(tenant: Tenant) -> None:
    await hooked(tenant, job("migrate", HANGS))
    await tenant.until("app", lambda tree: runs(tree).get("migrate") == ("Running", 1))
    await tenant.files("app", {"bad.yaml": config_map("BAD_name", tenant.namespace)})
    await tenant.applied("app", "Unappliable")
    assert runs(await tenant.get("app"))["migrate"] == ("Superseded", 1)

    await tenant.files("app", {"bad.yaml": None})

    await tenant.until("app", lambda tree: runs(tree)["migrate"] == ("Running", 2))


async def test_a_release_that_is_deleted_while_a_hook_runs_takes_its_job_along(tenant: Tenant) -> None:
    await hooked(tenant, job("migrate", HANGS, deletePolicy="Never"))
    await tenant.until("app", lambda tree: runs(tree).get("migrate") == ("Running", 1))
    (running,) = await jobs(tenant)
    assert running["metadata"]["finalizers"] == [HOOK_FINALIZER]

    await tenant.delete("app")

    await tenant.gone("app")
    assert await jobs(tenant) == []


async def test_a_hook_that_leaves_the_release_while_it_runs_takes_its_job_along(tenant: Tenant) -> None:
    await hooked(tenant, job("migrate", HANGS), policy={"interval": "2s"})
    await tenant.until("app", lambda tree: runs(tree).get("migrate") == ("Running", 1))

    await tenant.patch("app", {"lifecycle": None})

    tree = await tenant.until(
        "app", lambda tree: is_settled(tree) and condition_of(tree, "Applied").get("status") == "True"
    )
    assert tree["status"].get("hooks", []) == []
    assert await jobs(tenant) == []


async def test_a_job_in_convoys_own_namespace_is_refused(convoy: Convoy, tenant: Tenant) -> None:
    await hooked(tenant, {**job("migrate"), "namespace": convoy.settings.namespace})

    tree = await tenant.applied("app", "Unsupported")

    assert "hook migrate" in condition_of(tree, "Applied")["message"]
