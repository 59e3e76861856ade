"""The API server is killed and started again in the middle of a wave: the sync goes on."""

from __future__ import annotations

import asyncio

from tests.chaos.big_sync import BigSync, expected
from tests.chaos.site import Site
from tests.e2e.tenant import Tenant, failed_tasks


async def test_a_sync_survives_a_restart_of_the_api_server(site: Site, tenant: Tenant) -> None:
    big = BigSync(tenant)
    worker = await site.worker()
    watcher = await site.watcher()
    await big.create()
    await big.in_the_middle()
    command = site.kill_api_server()
    await asyncio.sleep(10)  # longer than what one request is tried again for
    await site.start_api_server(command)
    await tenant.applied("big")
    assert await big.values() == expected("1")
    assert sorted(await big.recorded()) == sorted(expected("1"))
    worker.require_running()
    watcher.require_running()
    for history in await tenant.histories("big"):
        assert failed_tasks(history) == []

    # The watch goes on, too.
    await tenant.files("big", {"first.yaml": "", "second.yaml": big.files("2")["first.yaml"]})
    await tenant.applied("big")
    assert (await big.values())["first"] == "2"
