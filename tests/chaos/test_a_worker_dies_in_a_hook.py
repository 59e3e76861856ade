"""A worker that is killed while a hook runs: the hook runs once, and its result is not lost (D27)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from convoy.api.names import HOOK_FINALIZER
from convoy.hooks.job import end_of
from tests.chaos.site import Site
from tests.e2e.hooked import hook_of, hooked, job, jobs, runs
from tests.e2e.tenant import Tenant, failed_tasks
from tests.waiting import eventually

Moment = Callable[[Tenant], Awaitable[bool]]


async def is_planned(tenant: Tenant) -> bool:
    return hook_of(await tenant.get("app"), "migrate") != {}


async def has_ended(tenant: Tenant) -> bool:
    return any(end_of(each) is not None for each in await jobs(tenant))


async def is_recorded(tenant: Tenant) -> bool:
    return hook_of(await tenant.get("app"), "migrate").get("phase") == "Succeeded"


@pytest.mark.parametrize("moment", [is_planned, has_ended, is_recorded])
async def test_a_hook_runs_once_whenever_its_worker_dies(site: Site, tenant: Tenant, moment: Moment) -> None:
    first = await site.worker()
    await site.watcher()
    # Its Jobs are never deleted, so that each one that was ever made is there.
    await hooked(tenant, job("migrate", deletePolicy="Never"))
    await eventually(lambda: moment(tenant), moment.__name__, within=tenant.patience, every=0.005)
    await first.kill()

    await site.worker()

    tree = await tenant.applied("app")
    assert runs(tree) == {"migrate": ("Succeeded", 1)}
    assert await tenant.config_map("box") is not None
    (made,) = await jobs(tenant)
    assert HOOK_FINALIZER not in made["metadata"].get("finalizers", [])
    assert [task for history in await tenant.histories("app") for task in failed_tasks(history)] == []
