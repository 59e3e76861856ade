"""What is written too late overwrites nothing newer: its worker was frozen, or a sync came between (rule 11)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from temporalio.testing import ActivityEnvironment

from activities import drifting
from activities.drifting import Drifting
from activities.health_status import read_inventory, write_health
from activities.recording import Recording
from activities.resolving import Resolving
from activities.services import Services
from convoy.api.objects import Manifest
from convoy.health.assessment import RenderHealth, WaveFound
from convoy.kube.resources import RELEASES
from convoy.policy.trigger import Trigger
from convoy.sync.interruptions import Fenced
from tests.e2e.harness.convoy import condition_of
from tests.e2e.tenant import Tenant, applied_of, config_map
from workflows.contract import (
    Cause,
    DriftInput,
    Outcome,
    Plan,
    Recorded,
    RecordInput,
    ReleaseId,
    ResolveInput,
    SyncRequest,
    Verdict,
)

SILENT = timedelta(microseconds=1)
"""A heartbeat timeout that has always passed: the worker was frozen."""


def activity_of(tenant: Tenant, *, heartbeat: timedelta = timedelta(seconds=30)) -> ActivityEnvironment:
    """Return where activities of the Release `app` run, beside its own worker."""
    environment = ActivityEnvironment()
    workflow_id = ReleaseId(tenant.namespace, "app").sync
    environment.info = replace(environment.info, workflow_id=workflow_id, heartbeat_timeout=heartbeat)
    return environment


async def record(
    services: Services, tenant: Tenant, plan: Plan, *, heartbeat: timedelta = timedelta(seconds=30)
) -> Recorded:
    """Write a failure as the result of a pass of the Release `app`."""
    late = RecordInput(plan, Outcome("DeployFailed", "late"), attempted=True)
    environment = activity_of(tenant, heartbeat=heartbeat)
    recorded: Recorded = await environment.run(Recording(services).record, late)
    return recorded


async def applied(tenant: Tenant) -> tuple[Manifest, Plan]:
    """Return an applied Release, and the plan of its latest pass as far as a result depends on it."""
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace)}, policy={"automatic": False})
    await tenant.applied("app", "WaitingForSync")
    await tenant.sync("app")
    await tenant.applied("app")
    tree = await tenant.in_sync("app")  # nothing else writes its status any more
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
        await record(services, tenant, plan, heartbeat=SILENT)

    assert (await tenant.get("app"))["status"] == tree["status"]


async def test_the_result_of_the_run_itself_is_written(services: Services, tenant: Tenant) -> None:
    _, plan = await applied(tenant)

    assert (await record(services, tenant, plan)).status == "False"
    tree = await tenant.get("app")
    assert tree["status"]["lastAttempted"]["reason"] == "DeployFailed"


async def test_the_failure_of_a_pass_that_never_knew_its_release_is_written_and_tried_again(
    services: Services, tenant: Tenant
) -> None:
    await applied(tenant)
    await tenant.patch("app", {"spec": {"syncPolicy": {"retryBackoff": {"initial": "1h"}}}})
    await tenant.applied("app")

    assert (await record(services, tenant, Plan())).status == "False"

    tree = await tenant.until("app", lambda tree: "retry" in tree["status"], "a retry")
    assert tree["status"]["retry"]["failures"] == 1
    assert applied_of(tree)["reason"] == "DeployFailed"


async def test_a_worker_that_was_silent_for_too_long_begins_no_pass(
    services: Services, tenant: Tenant
) -> None:
    tree, plan = await applied(tenant)
    asked = ResolveInput((SyncRequest(trigger=Trigger.PERIODIC, uid=plan.uid),))

    with pytest.raises(Fenced):
        await activity_of(tenant, heartbeat=SILENT).run(Resolving(services).resolve, asked)

    assert (await tenant.get("app"))["status"] == tree["status"]


async def test_a_worker_that_was_silent_for_too_long_tells_no_drift(
    services: Services, tenant: Tenant
) -> None:
    await applied(tenant)
    tree = await tenant.in_sync("app")
    await tenant.delete_config_map("a")

    with pytest.raises(Fenced):
        await activity_of(tenant, heartbeat=SILENT).run(
            Drifting(services).drift_pass, DriftInput(Cause.CHECK)
        )

    assert (await tenant.get("app"))["status"]["conditions"] == tree["status"]["conditions"]


async def test_the_report_of_manual_mode_is_not_written_over_a_syncs_result(
    services: Services, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    await applied(tenant)

    async def a_sync_comes_between(*_: object) -> None:
        await tenant.files("app", {"a.yaml": config_map("a", tenant.namespace, v="2")})
        await tenant.applied("app", "WaitingForSync")

    monkeypatch.setattr(drifting, "recheck", a_sync_comes_between)
    await activity_of(tenant).run(Drifting(services).drift_pass, DriftInput(Cause.TICK, ticked=True))

    tree = await tenant.get("app")
    assert applied_of(tree)["reason"] == "WaitingForSync"
    assert tree["status"]["observedGeneration"] == tree["metadata"]["generation"]


async def test_the_health_of_a_render_is_not_written_over_that_of_a_newer_one(
    services: Services, tenant: Tenant
) -> None:
    old, _ = await applied(tenant)
    late = RenderHealth(old["status"]["lastSuccessful"]["renderRef"], (WaveFound(0, 99, ()),))
    await tenant.files("app", {"a.yaml": config_map("a", tenant.namespace, v="2")})
    await tenant.applied("app", "WaitingForSync")
    await tenant.sync("app")
    new = await tenant.applied("app")

    async def write() -> None:
        await write_health(services, old, await read_inventory(services, old), late)

    await activity_of(tenant).run(write)

    tree = await tenant.get("app")
    assert condition_of(tree, "Healthy") == condition_of(new, "Healthy")


@pytest.mark.parametrize(("ticked", "verdict"), [(False, Verdict.BUSY), (True, Verdict.IN_SYNC)])
async def test_a_sync_that_was_ended_by_hand_holds_up_no_tick(
    services: Services, tenant: Tenant, ticked: bool, verdict: Verdict
) -> None:
    await applied(tenant)
    await tenant.closed("app")
    ended = {"status": {"sync": {"settledAt": None}}}
    await tenant.home.patch(RELEASES, tenant.namespace, "app", ended, subresource="status")

    report = await activity_of(tenant).run(
        Drifting(services).drift_pass, DriftInput(Cause.TICK if ticked else Cause.CHECK, ticked=ticked)
    )

    assert (report.verdict, report.reconcile) == (verdict, ticked)
