"""Half-applied waves are no drift (D35). A webhook of the test's own holds a request where it wants to look."""

from __future__ import annotations

import asyncio
from typing import Any

from convoy.api.names import SYNC_REQUESTED_AT
from tests.e2e.drift_passes import busy_passes, drift_passes, observed
from tests.e2e.harness.convoy import Convoy, condition_of
from tests.e2e.tenant import PATIENCE, Tenant
from tests.e2e.webhook import hooked, mutating_webhook
from tests.waiting import eventually
from workflows.contract import Cause, ReleaseId, Verdict


class Hold:
    """Holds the first request for the ConfigMap `b` that comes after `arm`, of applies or of dry runs."""

    def __init__(self) -> None:
        self._armed: bool | None = None
        self.arrived, self.let_go = asyncio.Event(), asyncio.Event()

    def arm(self, *, dry_run: bool) -> None:
        self._armed = dry_run

    async def review(self, asked: dict[str, Any]) -> list[dict[str, Any]]:
        if asked["name"] == "b" and asked["dryRun"] is self._armed:
            self._armed = None
            self.arrived.set()
            await self.let_go.wait()
        return []

    async def holds(self) -> None:
        async with asyncio.timeout(PATIENCE):
            await self.arrived.wait()


def files(tenant: Tenant, v: str) -> dict[str, str]:
    return {f"{name}.json": hooked(name, tenant.namespace, v=v) for name in ("a", "b")}


async def in_sync_at_first(tenant: Tenant) -> str:
    """Create the Release; returns since when it is in sync."""
    await tenant.release("app", files(tenant, "1"))
    await tenant.applied("app")
    await observed(tenant, "app")
    tree = await tenant.in_sync("app")
    return condition_of(tree, "InSync")["lastTransitionTime"]


async def until_busy(tenant: Tenant) -> None:
    async def met_the_sync() -> bool:
        return await busy_passes(tenant, "app") > 0

    await eventually(met_the_sync)


async def test_a_pass_that_would_begin_while_a_sync_applies_waits_for_its_end(
    convoy: Convoy, tenant: Tenant
) -> None:
    hold = Hold()
    async with mutating_webhook(tenant.home, tenant.namespace, hold.review):
        since = await in_sync_at_first(tenant)
        hold.arm(dry_run=False)
        await tenant.files("app", files(tenant, "2"))
        await hold.holds()
        half = [await tenant.config_map(name) for name in ("a", "b")]
        assert [each["data"]["v"] for each in half if each] == ["2", "1"]
        check = asyncio.create_task(convoy.check(ReleaseId(tenant.namespace, "app")))
        await until_busy(tenant)
        assert not check.done()
        hold.let_go.set()
        report = await check
    assert (report.verdict, report.in_sync) == (Verdict.IN_SYNC, 2)
    tree = await tenant.in_sync("app")
    assert condition_of(tree, "InSync")["lastTransitionTime"] == since, "it was never anything else"
    assert {one.verdict for one in await drift_passes(tenant, "app")} == {Verdict.IN_SYNC}


async def test_a_verdict_is_discarded_if_a_sync_wrote_during_the_compare(
    convoy: Convoy, tenant: Tenant
) -> None:
    hold = Hold()
    async with mutating_webhook(tenant.home, tenant.namespace, hold.review):
        since = await in_sync_at_first(tenant)
        hold.arm(dry_run=True)
        check = asyncio.create_task(convoy.check(ReleaseId(tenant.namespace, "app")))
        await hold.holds()
        await tenant.files("app", files(tenant, "2"))
        await tenant.applied("app")
        hold.let_go.set()
        report = await check
    assert (report.verdict, report.in_sync) == (Verdict.IN_SYNC, 2)
    # The pass was made again over what the sync had applied: its end is no news any more.
    assert [one.cause for one in await drift_passes(tenant, "app")] == [Cause.CREATED, Cause.CHECK]
    tree = await tenant.in_sync("app")
    assert condition_of(tree, "InSync")["lastTransitionTime"] == since, "it was never anything else"
    assert {one.verdict for one in await drift_passes(tenant, "app")} == {Verdict.IN_SYNC}
    assert SYNC_REQUESTED_AT not in (tree["metadata"].get("annotations") or {})
