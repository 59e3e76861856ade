"""The InSync condition of a Release (`reference/drift`, The InSync condition, Only declared objects)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from convoy.api.names import MANAGER_OBSERVE
from convoy.api.objects import Manifest
from convoy.kube.resources import CONFIG_MAPS
from tests.e2e.drift_passes import drift_passes, observed
from tests.e2e.harness.convoy import Convoy, condition_of
from tests.e2e.tenant import Tenant, config_map
from tests.waiting import eventually
from workflows.contract import ReleaseId, Verdict


def managers_of(tree: Manifest, condition: str) -> set[str]:
    """Return who owns a condition, by managedFields."""
    key = "k:" + json.dumps({"type": condition}, separators=(",", ":"))
    return {
        entry["manager"]
        for entry in tree["metadata"]["managedFields"]
        if key in entry["fieldsV1"].get("f:status", {}).get("f:conditions", {})
    }


async def test_it_is_the_observers_and_applied_is_not(tenant: Tenant) -> None:
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace, v="1")})
    await tenant.applied("app")
    tree = await tenant.in_sync("app")
    assert condition_of(tree, "InSync")["status"] == "True"
    assert managers_of(tree, "InSync") == {MANAGER_OBSERVE}
    assert MANAGER_OBSERVE not in managers_of(tree, "Applied")


async def test_it_is_written_only_when_condition_or_generation_changes(
    convoy: Convoy, tenant: Tenant
) -> None:
    release = ReleaseId(tenant.namespace, "app")
    await tenant.release(
        "app", {"a.yaml": config_map("a", tenant.namespace, v="1")}, policy={"automatic": False}
    )
    await tenant.applied("app", "WaitingForSync")
    await tenant.sync("app")
    await observed(tenant, "app")
    await convoy.check(release)
    quiet = await tenant.get("app")
    for _ in range(3):
        assert (await convoy.check(release)).verdict is Verdict.IN_SYNC
    assert (await tenant.get("app"))["metadata"]["resourceVersion"] == quiet["metadata"]["resourceVersion"]

    await tenant.patch("app", {"spec": {"historyLimit": 3}})
    tree = await tenant.until(
        "app",
        lambda tree: condition_of(tree, "InSync")["observedGeneration"] == tree["metadata"]["generation"],
        "the new generation",
    )
    before, after = condition_of(quiet, "InSync"), condition_of(tree, "InSync")
    assert after["lastTransitionTime"] == before["lastTransitionTime"], "its status is the same"

    await edit(tenant, "a", {"v": "2"})
    await convoy.check(release)
    drifted = await tenant.in_sync("app", "Drifted")
    assert condition_of(drifted, "InSync")["status"] == "False"
    await convoy.check(release)
    assert (await tenant.get("app"))["metadata"]["resourceVersion"] == drifted["metadata"]["resourceVersion"]

    # Another field: the same status and reason, another message.
    await edit(tenant, "a", {"v": "1"})
    await tenant.home.delete(CONFIG_MAPS, tenant.namespace, "a")
    await convoy.check(release)
    missing = await tenant.get("app")
    assert "is missing" in condition_of(missing, "InSync")["message"]


async def retried(tenant: Tenant) -> bool:
    return await tenant.passes("app") >= 5


BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "no-source": ({"source": {"configMap": {"name": "nowhere"}}}, "nowhere"),
    "no-cluster": ({"cluster": "nowhere"}, "no Cluster"),
    "no-kind": ({"files": "apiVersion: x.example.org/v1\nkind: Unicorn\nmetadata: {name: u}\n"}, "Unicorn"),
    "no-render": ({"files": "apiVersion: v1\nkind: ConfigMap\n"}, "name"),
}


@pytest.mark.parametrize("what", BROKEN)
async def test_an_error_is_undetermined_and_is_not_tried_again_before_the_next_interval(
    tenant: Tenant, what: str
) -> None:
    options, said = BROKEN[what]
    files = options.get("files", config_map("a", tenant.namespace))
    await tenant.release(
        "app",
        None if "source" in options else {"a.yaml": files},
        policy={"retryBackoff": {"initial": "100ms", "max": "500ms"}},
        **{name: value for name, value in options.items() if name != "files"},
    )
    tree = await tenant.in_sync("app", "Undetermined")
    assert condition_of(tree, "InSync")["status"] == "Unknown"
    assert said in condition_of(tree, "InSync")["message"]
    if what == "no-render":
        return  # `Unsupported` is not retried by Sync either, so there is nothing to wait for
    await eventually(lambda: retried(tenant))
    assert [one.verdict for one in await drift_passes(tenant, "app")] == [Verdict.UNDETERMINED]


async def test_a_rejected_dry_run_is_undetermined_with_how_far_it_came(
    convoy: Convoy, tenant: Tenant
) -> None:
    files = {
        "a.yaml": config_map("a", tenant.namespace, v="1"),
        "b.yaml": f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: b, namespace: {tenant.namespace}}}\n",
    }
    await tenant.release("app", files, policy={"automatic": False})
    await tenant.applied("app", "WaitingForSync")
    await tenant.sync("app")
    await tenant.applied("app")
    await tenant.files("app", {"b.yaml": files["b.yaml"] + "data: {v: [1]}\n"})
    tree = await tenant.in_sync("app", "Undetermined")
    message = condition_of(tree, "InSync")["message"]
    assert f"stopped at ConfigMap {tenant.namespace}/b" in message
    assert "compared 1 of 2 objects: 1 in sync, 0 modified, 0 missing" in message
    report = await convoy.check(ReleaseId(tenant.namespace, "app"))
    assert (report.verdict, report.compared, report.in_sync) == (Verdict.UNDETERMINED, 1, 1)


async def test_in_manual_mode_a_newer_render_is_drift_until_it_is_applied(tenant: Tenant) -> None:
    await tenant.release(
        "app", {"a.yaml": config_map("a", tenant.namespace, v="1")}, policy={"automatic": False}
    )
    await tenant.applied("app", "WaitingForSync")
    await tenant.sync("app")
    await tenant.applied("app")
    await tenant.in_sync("app")
    await tenant.files("app", {"a.yaml": config_map("a", tenant.namespace, v="2")})
    tree = await tenant.in_sync("app", "Drifted")
    assert f"ConfigMap {tenant.namespace}/a at /data/v" in condition_of(tree, "InSync")["message"]
    live = await tenant.config_map("a")
    assert live is not None
    assert live["data"] == {"v": "1"}
    await tenant.sync("app")
    await tenant.in_sync("app")


async def test_only_objects_of_the_render_are_compared(convoy: Convoy, tenant: Tenant) -> None:
    files = {name: config_map(name, tenant.namespace, v="1") for name in ("a", "dropped")}
    await tenant.release("app", {f"{name}.yaml": text for name, text in files.items()})
    await tenant.applied("app")
    await tenant.files("app", {"dropped.yaml": None})
    await tenant.applied("app")
    await tenant.create(CONFIG_MAPS, "strange", {"data": {"v": "1"}})
    await edit(tenant, "dropped", {"v": "2"})
    report = await convoy.check(ReleaseId(tenant.namespace, "app"))
    assert await tenant.config_map("dropped") is not None
    assert (report.verdict, report.compared, report.in_sync) == (Verdict.IN_SYNC, 1, 1)


async def test_a_check_answers_with_counts_and_the_stored_changes_of_each_object(
    convoy: Convoy, tenant: Tenant
) -> None:
    release = ReleaseId(tenant.namespace, "app")
    secret = (
        f"apiVersion: v1\nkind: Secret\nmetadata: {{name: s, namespace: {tenant.namespace}}}\n"
        "stringData: {password: first-quince}\n"
    )
    files = {f"{name}.yaml": config_map(name, tenant.namespace, v="1") for name in ("a", "b", "c")}
    await tenant.release("app", files | {"s.yaml": secret}, policy={"automatic": False})
    await tenant.applied("app", "WaitingForSync")
    await tenant.sync("app")
    await observed(tenant, "app")
    quiet = await convoy.check(release)
    assert (quiet.verdict, quiet.compared, quiet.in_sync, quiet.changes) == (Verdict.IN_SYNC, 4, 4, "")

    await edit(tenant, "b", {"v": "2"}, manager="kubectl-edit")
    await tenant.home.delete(CONFIG_MAPS, tenant.namespace, "c")
    await convoy.objects.apply(
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "s", "namespace": tenant.namespace},
            "stringData": {"password": "second-quince"},
        },
        manager="hand",
    )
    report = await convoy.check(release)
    assert (report.compared, report.in_sync, report.modified, report.missing) == (4, 1, 2, 1)
    assert report.began_at >= quiet.began_at
    found = await convoy.changes(report)
    assert {subject: one.status.value for subject, one in found.items()} == {
        f"ConfigMap {tenant.namespace}/b": "Modified",
        f"ConfigMap {tenant.namespace}/c": "Missing",
        f"Secret {tenant.namespace}/s": "Modified",
    }, "an object without an entry is in sync"
    (change,) = found[f"ConfigMap {tenant.namespace}/b"].changes
    assert (change.pointer, change.live, change.desired) == ("/data/v", "2", "1")
    assert change.owner is not None
    assert (change.owner.manager, change.owner.operation) == ("kubectl-edit", "Update")
    (hidden,) = found[f"Secret {tenant.namespace}/s"].changes
    assert hidden.pointer == "/data/password"
    assert str(hidden.live).startswith("hmac:")
    assert str(hidden.desired).startswith("hmac:")


async def edit(tenant: Tenant, name: str, data: dict[str, str], *, manager: str = "hand") -> None:
    await tenant.home.patch(CONFIG_MAPS, tenant.namespace, name, {"data": data}, manager=manager)
