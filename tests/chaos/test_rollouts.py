"""Rollouts whose worker is killed, and rollouts where there is no render store (D28)."""

from __future__ import annotations

import asyncio

from tests.chaos.site import Site
from tests.e2e.tenant import Tenant, failed_tasks
from tests.e2e.test_rollout import (
    BAD,
    LONG,
    SHORT,
    back,
    healthy,
    policy,
    push,
    rolled,
    rollout_of,
    successful,
)


async def test_a_deadline_that_passes_while_no_worker_lives_is_kept(site: Site, tenant: Tenant) -> None:
    first = await site.worker()
    await site.watcher()
    good = await healthy(tenant)
    await push(tenant, BAD, "20s")
    started = rollout_of(await rolled(tenant, "Progressing"))["startedAt"]
    await first.kill()
    await asyncio.sleep(20)

    await site.worker()
    tree = await back(tenant, good)
    assert rollout_of(tree)["startedAt"] == started
    for history in await tenant.histories("app", "drift"):
        assert failed_tasks(history) == []


async def test_a_rollback_whose_worker_is_killed_is_finished_by_another(site: Site, tenant: Tenant) -> None:
    first = await site.worker()
    await site.watcher()
    good = await healthy(tenant)
    await push(tenant, BAD, SHORT)
    bad = rollout_of(await rolled(tenant, "RolledBack", settled=False))["renderRef"]
    await first.kill()

    await site.worker()
    tree = await back(tenant, good)
    assert rollout_of(tree)["renderRef"] == bad
    await tenant.applied("app")
    assert await tenant.config_map("old") is not None
    assert await tenant.config_map("new") is None


async def test_without_a_render_store_a_rollout_fails_and_says_so(site: Site, tenant: Tenant) -> None:
    environment = {k: v for k, v in site.environment.items() if k != "CONVOY_RENDER_STORE_URL"}
    storeless = Site(site.stack, site.folder, environment, site.home, site.client, site.started)
    await storeless.worker()
    await storeless.watcher()
    await healthy(tenant)

    await push(tenant, BAD, SHORT)
    tree = await rolled(tenant, "Failed")
    told = "Nothing is rolled back: this installation has no render store (--render-store-url)."
    assert told in rollout_of(tree)["message"]
    assert successful(tree) == rollout_of(tree)["renderRef"]
    await tenant.patch("app", {"spec": policy(LONG)})
    assert rollout_of(await tenant.applied("app"))["phase"] == "Failed"
