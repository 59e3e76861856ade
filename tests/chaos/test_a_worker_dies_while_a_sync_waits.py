"""A worker that is killed while a sync waits at a gate: the wait goes on with another worker (D25)."""

from __future__ import annotations

import asyncio

from temporalio.client import WorkflowExecutionStatus

from tests.chaos.site import Site
from tests.e2e.gated import shop, stuck, waves_of
from tests.e2e.tenant import Tenant, applied_of, failed_tasks
from workflows.contract import ReleaseId


async def test_the_wait_its_deadline_and_its_run_survive(site: Site, tenant: Tenant) -> None:
    first = await site.worker()
    await site.watcher()
    waits = await stuck(tenant)
    run = tenant.client.get_workflow_handle(ReleaseId(tenant.namespace, "shop").sync)
    await first.kill()

    await site.worker()
    assert (await run.describe()).status is WorkflowExecutionStatus.RUNNING
    await tenant.sync("shop")
    asked = await tenant.applied("shop", "WaitingForWave")
    assert until_of(asked) == until_of(waits), "the deadline has not moved"
    await tenant.files("shop", shop(tenant.namespace, ready=True))
    tree = await tenant.applied("shop")
    assert waves_of(tree) == [(0, "Apply", "Healthy"), (1, "Health", "Applied")]
    for history in await tenant.histories("shop"):
        assert failed_tasks(history) == []


async def test_a_deadline_that_passes_while_no_worker_runs_counts(site: Site, tenant: Tenant) -> None:
    first = await site.worker()
    await site.watcher()
    gate = [{"wave": 1, "strategy": "Health", "timeout": "20s"}]
    await tenant.release(
        "shop",
        shop(tenant.namespace, ready=False),
        syncWaves=gate,
        policy={"retryBackoff": {"initial": "1h"}},
    )
    await tenant.applied("shop", "WaitingForWave")
    await first.kill()
    await asyncio.sleep(20)

    await site.worker()
    tree = await tenant.applied("shop", "DeployFailed")
    assert "is not healthy after 20s" in applied_of(tree)["message"]


def until_of(tree: dict[str, object]) -> str:
    """Return the deadline that the message names."""
    return applied_of(tree)["message"].split(" for wave ")[0]
