"""An operator pauses or resets a sync while it applies: what it was about to write is not lost, nor written late."""

from __future__ import annotations

import asyncio
from typing import Any

from convoy.kube.resources import INVENTORIES
from tests.e2e.harness.convoy import Convoy
from tests.e2e.seen_target import seen_target
from tests.e2e.tenant import Tenant, config_map, failed_tasks
from tests.e2e.test_temporal_cli import Cli

CALM = {"retryBackoff": {"initial": "1h"}}
NAMES = "abcd"
WAVE = "apply-wave-0"


def files(tenant: Tenant, value: str) -> dict[str, str]:
    return {f"{name}.yaml": config_map(name, tenant.namespace, v=value) for name in NAMES}


async def values(tenant: Tenant) -> list[str]:
    found = [await tenant.config_map(name) for name in NAMES]
    return [each["data"]["v"] if each else "" for each in found]


async def recorded(tenant: Tenant) -> list[str]:
    tree = await tenant.home.get(INVENTORIES, tenant.namespace, "app")
    return [item["name"] for group in tree["spec"]["objects"] for item in group["items"]]


async def nothing_failed(tenant: Tenant) -> None:
    for history in await tenant.histories("app"):
        assert failed_tasks(history) == []


async def test_a_paused_wave_goes_on_behind_its_last_object(convoy: Convoy, tenant: Tenant) -> None:
    cli = Cli(convoy, tenant, "app")
    async with seen_target(tenant) as seen:
        seen.hold("b")
        await tenant.release("app", files(tenant, "1"), policy=CALM, cluster="seen")
        await seen.is_held()
        await cli("pause", "--activity-id", WAVE, command="activity")
        async with asyncio.timeout(60):
            while (await pending(cli)).get("state") != "PENDING_ACTIVITY_STATE_PAUSED":  # noqa: ASYNC110
                await asyncio.sleep(0.2)
        assert await recorded(tenant) == ["a"], "what was answered is recorded"
        assert await tenant.config_map("c") is None
        seen.let_go.set()
        await cli("unpause", "--activity-id", WAVE, command="activity")
        await tenant.applied("app")
        assert await values(tenant) == ["1"] * 4
        assert await recorded(tenant) == list(NAMES)
        assert [len(seen.written(name)) for name in NAMES] == [1, 2, 1, 1], "only b was not answered"
    await nothing_failed(tenant)


async def test_a_sync_reset_in_the_middle_of_a_wave_writes_nothing_late(
    convoy: Convoy, tenant: Tenant
) -> None:
    cli = Cli(convoy, tenant, "app")
    async with seen_target(tenant) as seen:
        seen.hold("b")
        await tenant.release("app", files(tenant, "1"), policy=CALM, cluster="seen")
        await seen.is_held()
        await tenant.files("app", files(tenant, "2"))
        await cli("reset", "--type", "FirstWorkflowTask", "--reason", "a test", "--yes")
        await tenant.applied("app")
        seen.let_go.set()
        # One more sync: whatever the attempt of the old run still did has happened by its end.
        await tenant.sync("app")
        await tenant.applied("app")
        assert await values(tenant) == ["2"] * 4
        assert await recorded(tenant) == list(NAMES)
        late = [write.name for write in seen.writes if '"v":"1"' in write.body]
        assert late == ["a", "b"], "the run that was reset wrote nothing after its last request"
    await nothing_failed(tenant)


async def test_a_sync_terminated_in_the_middle_of_a_wave_is_made_up_for(
    convoy: Convoy, tenant: Tenant
) -> None:
    cli = Cli(convoy, tenant, "app")
    async with seen_target(tenant) as seen:
        seen.hold("b")
        await tenant.release("app", files(tenant, "1"), policy=CALM, cluster="seen")
        await seen.is_held()
        await cli("terminate", "--reason", "a test")
        await tenant.sync("app")
        await tenant.applied("app")
        seen.let_go.set()
        await tenant.sync("app")
        await tenant.applied("app")
        assert await values(tenant) == ["1"] * 4
        assert await recorded(tenant) == list(NAMES)
    await nothing_failed(tenant)


async def pending(cli: Cli) -> Any:
    described = await cli("describe")
    return next((each for each in described.get("pendingActivities") or () if each["activityId"] == WAVE), {})
