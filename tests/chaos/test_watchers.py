"""Watchers are stateless: what one misses another one finds, and of several one leads."""

from __future__ import annotations

import asyncio

from tests.chaos.site import Site
from tests.e2e.harness.process import ConvoyProcess
from tests.e2e.tenant import Tenant, config_map

LEADS = '"watcher-started"'


async def test_what_happened_while_no_watcher_ran_is_found(site: Site, tenant: Tenant) -> None:
    await site.worker()
    first = await site.watcher()
    for name in ("changed", "asked", "quiet", "deleted"):
        await tenant.release(name, {"a.yaml": config_map(name, tenant.namespace, v="1")})
    for name in ("changed", "asked", "quiet", "deleted"):
        await tenant.applied(name)
    await first.kill()
    await tenant.files("changed", {"a.yaml": config_map("changed", tenant.namespace, v="2")})
    await tenant.sync("asked")
    await tenant.release("made", {"a.yaml": config_map("made", tenant.namespace)})
    await tenant.delete("deleted")
    await site.client.get_workflow_handle(f"drift/{tenant.namespace}/quiet").terminate("a test")

    await site.watcher()
    for name in ("changed", "asked", "made"):
        await tenant.applied(name)
    await tenant.gone("deleted")
    live = await tenant.config_map("changed")
    assert live is not None
    assert live["data"] == {"v": "2"}
    assert [await tenant.passes(name) for name in ("changed", "asked", "made", "quiet")] == [2, 2, 1, 1]
    async with asyncio.timeout(60):
        handle = site.client.get_workflow_handle(f"drift/{tenant.namespace}/quiet")
        while (await handle.describe()).close_time is not None:  # noqa: ASYNC110
            await asyncio.sleep(0.2)


async def test_of_two_watchers_the_lease_picks_one_and_the_other_follows(site: Site, tenant: Tenant) -> None:
    await site.worker()
    watchers = [await site.watcher(), await site.watcher()]
    leader = await leading(watchers)
    follower = next(watcher for watcher in watchers if watcher is not leader)
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace, v="1")})
    await tenant.applied("app")
    assert await tenant.passes("app") == 1
    assert LEADS not in follower.log_since(0)

    await leader.stop()
    assert leader.exit_code == 0
    await leading([follower])
    await tenant.files("app", {"a.yaml": config_map("a", tenant.namespace, v="2")})
    await tenant.applied("app")
    assert await tenant.passes("app") == 2


async def leading(watchers: list[ConvoyProcess]) -> ConvoyProcess:
    """Return the watcher that leads, once there is one."""
    async with asyncio.timeout(90):
        while True:
            for watcher in watchers:
                if LEADS in watcher.log_since(0):
                    return watcher
            await asyncio.sleep(0.1)
