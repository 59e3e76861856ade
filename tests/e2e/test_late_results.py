"""The result of a pass that comes too late overwrites no newer one: its worker was frozen (design 04, rule 11)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from temporalio.testing import ActivityEnvironment

from activities.recording import Recording
from activities.services import Services
from convoy.api.objects import Manifest
from convoy.sync.interruptions import Fenced
from tests.e2e.tenant import Tenant, config_map
from workflows.contract import Outcome, Plan, Recorded, RecordInput, ReleaseId


async def record(
    services: Services, tenant: Tenant, plan: Plan, *, heartbeat: timedelta = timedelta(seconds=30)
) -> Recorded:
    """Write a failure as the result of a pass of the Release `app`."""
    environment = ActivityEnvironment()
    workflow_id = ReleaseId(tenant.namespace, "app").sync
    environment.info = replace(environment.info, workflow_id=workflow_id, heartbeat_timeout=heartbeat)
    late = RecordInput(plan, Outcome("DeployFailed", "late"), attempted=True)
    recorded: Recorded = await environment.run(Recording(services).record, late)
    return recorded


async def applied(tenant: Tenant) -> tuple[Manifest, Plan]:
    """Return an applied Release, and the plan of its latest pass as far as a result depends on it."""
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace)}, policy={"automatic": False})
    await tenant.applied("app", "WaitingForSync")
    await tenant.sync("app")
    tree = await tenant.applied("app")
    run = tree["status"]["sync"]["runId"]
    return tree, Plan(uid=tree["metadata"]["uid"], run_id=run, generation=1, render_ref="sha256:" + "0" * 64)


async def test_the_result_of_an_earlier_run_is_dropped(services: Services, tenant: Tenant) -> None:
    tree, plan = await applied(tenant)

    answer = await record(services, tenant, replace(plan, run_id="an-earlier-run"))

    assert answer.status == ""
    assert "another run has taken over" in answer.message
    assert (await tenant.get("app"))["status"] == tree["status"]


async def test_a_worker_that_was_silent_for_too_long_writes_no_result(
    services: Services, tenant: Tenant
) -> None:
    tree, plan = await applied(tenant)

    with pytest.raises(Fenced):
        await record(services, tenant, plan, heartbeat=timedelta(microseconds=1))

    assert (await tenant.get("app"))["status"] == tree["status"]


async def test_the_result_of_the_run_itself_is_written(services: Services, tenant: Tenant) -> None:
    _, plan = await applied(tenant)

    assert (await record(services, tenant, plan)).status == "False"
    tree = await tenant.get("app")
    assert tree["status"]["lastAttempted"]["reason"] == "DeployFailed"
