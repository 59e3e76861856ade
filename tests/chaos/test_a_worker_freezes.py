"""A worker that hangs for longer than its heartbeat timeout wakes as if nothing had happened (design 04, rule 11)."""

from __future__ import annotations

import asyncio

from convoy.kube.resources import INVENTORIES
from tests.chaos.big_sync import BigSync, expected
from tests.chaos.site import Site
from tests.e2e.tenant import Tenant, config_map, failed_tasks


async def test_what_a_frozen_worker_does_when_it_wakes_harms_nothing(site: Site, tenant: Tenant) -> None:
    big = BigSync(tenant)
    frozen = await site.worker()
    await site.watcher()
    await big.create(value="1")
    await big.in_the_middle()
    frozen.freeze()
    other = await site.worker()
    tree = await tenant.applied("big")
    inventory = await tenant.home.get(INVENTORIES, tenant.namespace, "big")
    sent = await big.sent()

    frozen.thaw()
    await asyncio.sleep(10)  # it would go on at once
    assert await big.sent() - sent <= 1, "the request that was under way, and no other"
    assert await tenant.home.get(INVENTORIES, tenant.namespace, "big") == inventory
    assert (await tenant.get("big"))["status"]["waves"] == tree["status"]["waves"]
    assert await big.values() == expected("1")

    # It is a worker like any other again.
    await other.stop()
    await tenant.files("big", {"first.yaml": config_map("first", tenant.namespace, v="2"), "second.yaml": ""})
    await tenant.applied("big")
    assert (await big.values())["first"] == "2"
    for history in await tenant.histories("big"):
        assert failed_tasks(history) == []
