"""Events on the Release tell what `kubectl describe` should show, each once."""

from __future__ import annotations

import asyncio

from convoy.api.objects import Manifest
from convoy.kube.resources import CONFIG_MAPS, EVENTS
from tests.e2e.harness.convoy import Convoy
from tests.e2e.tenant import Tenant, config_map
from workflows.contract import ReleaseId


async def told(tenant: Tenant, name: str, *reasons: str) -> dict[str, list[Manifest]]:
    """Return the events of a Release by reason, once all of these are there."""
    async with asyncio.timeout(60):
        while True:
            found: dict[str, list[Manifest]] = {}
            for event in await tenant.home.list(EVENTS, tenant.namespace):
                regarding = event["regarding"]
                if (regarding["kind"], regarding["name"]) == ("Release", name):
                    found.setdefault(event["reason"], []).append(event)
            if set(reasons) <= set(found):
                return found
            await asyncio.sleep(0.2)


async def test_start_success_heal_and_prune_are_told(convoy: Convoy, tenant: Tenant) -> None:
    files = {name: config_map(name, tenant.namespace, v="1") for name in ("a", "b")}
    await tenant.release(
        "app", {f"{name}.yaml": text for name, text in files.items()}, policy={"prune": {"orphaned": True}}
    )
    await tenant.applied("app")
    events = await told(tenant, "app", "SyncStarted", "SyncSucceeded")
    assert {event["type"] for each in events.values() for event in each} == {"Normal"}

    await tenant.files("app", {"b.yaml": None})
    await tenant.applied("app")
    events = await told(tenant, "app", "Pruned")
    assert "1 object" in events["Pruned"][0]["note"]

    await tenant.home.patch(CONFIG_MAPS, tenant.namespace, "a", {"data": {"v": "2"}}, manager="kubectl-edit")
    await convoy.check(ReleaseId(tenant.namespace, "app"))
    (healed,) = (await told(tenant, "app", "Healed"))["Healed"]
    assert healed["note"].endswith(f"; it was drift of ConfigMap {tenant.namespace}/a (/data/v)")
    assert (await tenant.applied("app"))["status"]["lastAttempted"]["trigger"] == "SelfHeal"


async def test_a_wait_and_a_failure_are_told_with_what_to_do(tenant: Tenant) -> None:
    await tenant.release(
        "app", {"a.yaml": config_map("a", "missing-" + tenant.namespace)}, policy={"automatic": False}
    )
    events = await told(tenant, "app", "WaitingForSync")
    assert events["WaitingForSync"][0]["type"] == "Normal"
    await tenant.sync("app")
    events = await told(tenant, "app", "Unappliable")
    assert events["Unappliable"][0]["type"] == "Warning"
    assert "missing-" + tenant.namespace in events["Unappliable"][0]["note"]


async def test_what_is_said_again_is_counted_and_not_written_again(tenant: Tenant) -> None:
    await tenant.release("app", source={"configMap": {"name": "nowhere"}})
    await tenant.until(
        "app", lambda tree: (tree.get("status") or {}).get("retry", {}).get("failures", 0) >= 5, "failures"
    )
    events = await told(tenant, "app", "SourceNotReady")
    assert len(events["SourceNotReady"]) == 1
    assert events["SourceNotReady"][0]["series"]["count"] >= 2
