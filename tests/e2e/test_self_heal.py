"""Automatic mode: drift is found and corrected; manual mode only tells (`reference/drift`, Self-heal)."""

from __future__ import annotations

import asyncio
import json

from convoy.kube.resources import CONFIG_MAPS
from tests.e2e.harness.convoy import Convoy, condition_of
from tests.e2e.tenant import Tenant, config_map
from workflows.contract import ReleaseId, Verdict


async def test_a_field_changed_by_hand_is_found_named_and_healed(convoy: Convoy, tenant: Tenant) -> None:
    release = ReleaseId(tenant.namespace, "app")
    await tenant.release("app", {"a.yaml": config_map("settings", tenant.namespace, greeting="hello")})
    await tenant.applied("app")
    await tenant.in_sync("app")
    await tenant.home.patch(
        CONFIG_MAPS, tenant.namespace, "settings", {"data": {"greeting": "changed"}}, manager="kubectl-edit"
    )
    await convoy.check(release)
    await healed(tenant, "hello")
    assert f"ConfigMap {tenant.namespace}/settings: /data/greeting" in await found_drift(tenant)
    await tenant.applied("app")
    assert (await convoy.check(release)).verdict is Verdict.IN_SYNC
    await tenant.in_sync("app")


async def test_a_deleted_object_comes_back(convoy: Convoy, tenant: Tenant) -> None:
    await tenant.release("app", {"a.yaml": config_map("settings", tenant.namespace, greeting="hello")})
    await tenant.applied("app")
    await tenant.home.delete(CONFIG_MAPS, tenant.namespace, "settings")
    await convoy.check(ReleaseId(tenant.namespace, "app"))
    await healed(tenant, "hello")
    assert f"ConfigMap {tenant.namespace}/settings: " in await found_drift(tenant)


async def test_the_interval_finds_and_heals_drift_without_anybody_asking(tenant: Tenant) -> None:
    await tenant.release(
        "app",
        {"a.yaml": config_map("settings", tenant.namespace, greeting="hello")},
        policy={"interval": "2s"},
    )
    await tenant.applied("app")
    await tenant.home.patch(
        CONFIG_MAPS, tenant.namespace, "settings", {"data": {"greeting": "changed"}}, manager="kubectl-edit"
    )
    await healed(tenant, "hello")


async def test_manual_mode_tells_of_drift_and_changes_nothing(convoy: Convoy, tenant: Tenant) -> None:
    release = ReleaseId(tenant.namespace, "app")
    await tenant.release(
        "app",
        {"a.yaml": config_map("settings", tenant.namespace, greeting="hello")},
        policy={"automatic": False},
    )
    await tenant.applied("app", "WaitingForSync")
    await tenant.sync("app")
    await tenant.applied("app")
    await tenant.home.patch(
        CONFIG_MAPS, tenant.namespace, "settings", {"data": {"greeting": "changed"}}, manager="kubectl-edit"
    )
    passes = await tenant.passes("app")
    report = await convoy.check(release)
    assert (report.verdict, report.heal) == (Verdict.DRIFTED, False)
    tree = await tenant.in_sync("app", "Drifted")
    assert condition_of(tree, "Applied")["reason"] == "Applied", "drift is no business of Applied"
    assert await tenant.passes("app") == passes
    settings = await tenant.config_map("settings")
    assert settings is not None
    assert settings["data"] == {"greeting": "changed"}


async def healed(tenant: Tenant, greeting: str) -> None:
    async with asyncio.timeout(90):
        while True:
            found = await tenant.config_map("settings")
            if found is not None and found["data"]["greeting"] == greeting:
                return
            await asyncio.sleep(0.1)


async def found_drift(tenant: Tenant) -> set[str]:
    """Return the drifted fields that any pass found: also one that was made before the test asked for its own."""
    return {
        field
        for history in await tenant.histories("app", "drift")
        for event in history.events
        for payload in event.activity_task_completed_event_attributes.result.payloads
        if isinstance(result := json.loads(payload.data), dict)
        for field in result.get("drifted", ())
    }
