"""A worker that hangs for longer than its heartbeat timeout wakes as if nothing had happened (design 04, rule 11)."""

from __future__ import annotations

import asyncio

from tests.chaos.big_sync import BigSync, expected
from tests.chaos.site import Site
from tests.e2e.tenant import Tenant, failed_tasks


async def test_what_a_frozen_worker_does_when_it_wakes_harms_nothing(site: Site, tenant: Tenant) -> None:
    big = BigSync(tenant)
    frozen = await site.worker()
    await site.watcher()
    await big.create(value="1")
    await big.in_the_middle()
    frozen.freeze()
    other = await site.worker()
    await tenant.applied("big")
    # What the frozen worker was about to write is old by now.
    await tenant.files("big", big.files("2"))
    await tenant.applied("big")
    before, sent = await big.recorded(), await big.sent()

    frozen.thaw()
    await asyncio.sleep(15)
    assert await big.sent() - sent <= 1, "the request that was under way, and no other"
    assert await big.recorded() == before
    await tenant.sync("big")
    await tenant.applied("big")
    assert await big.values() == expected("2")

    # It is a worker like any other again.
    await other.stop()
    await tenant.files("big", big.files("3"))
    await tenant.applied("big")
    assert await big.values() == expected("3")
    for history in await tenant.histories("big"):
        assert failed_tasks(history) == []
