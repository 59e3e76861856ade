"""What people type by hand: a wrong id or input is refused with a clear message, and stops nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from temporalio.client import WithStartWorkflowOperation, WorkflowUpdateFailedError
from temporalio.common import WorkflowIDConflictPolicy

from convoy.policy.trigger import Trigger
from tests.workflows.doubles import Script
from tests.workflows.driver import Driver, failed, result, signal, state
from workflows.contract import Activity, Cause, SignalName, SyncRequest

BAD_IDS = ["shop", "sync/shop", "sync/team/shop/more", "deploy/team/shop", "sync//shop"]


@pytest.mark.parametrize("bad", BAD_IDS)
@pytest.mark.parametrize("kind", ["Sync", "Drift", "Health"])
async def test_a_workflow_id_that_names_no_release_fails_the_run(driver: Driver, kind: str, bad: str) -> None:
    run = await driver.client.start_workflow(kind, id=bad, task_queue=driver.queue)
    error = await failed(run)
    assert error.type == "BadWorkflowId"
    assert error.message == (
        f"workflow id {bad!r}: expected sync/<namespace>/<name> or drift/<namespace>/<name>"
        " or health/<namespace>/<name>"
    )


@pytest.mark.parametrize(("kind", "update"), [("Sync", "sync"), ("Drift", "check")])
async def test_an_update_to_such_an_id_is_refused(driver: Driver, kind: str, update: str) -> None:
    start: WithStartWorkflowOperation[Any, Any] = WithStartWorkflowOperation(
        kind, id="shop", task_queue=driver.queue, id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING
    )
    with pytest.raises(WorkflowUpdateFailedError) as refused:
        await driver.client.execute_update_with_start_workflow(update, start_workflow_operation=start)
    assert "expected sync/<namespace>/<name>" in str(refused.value.cause)


async def test_a_sync_started_without_any_request_ends_at_once(driver: Driver, script: Script) -> None:
    run = await driver.client.start_workflow("Sync", id=driver.release.sync, task_queue=driver.queue)
    settled = await result(run)
    assert (settled["reason"], settled["message"]) == ("Nothing", "nothing was asked for")
    assert script.calls == []


@pytest.mark.parametrize("kind", ["Sync", "Drift", "Health"])
@pytest.mark.parametrize("input_", ["now", {"inbox": 7, "render": 7}, 7], ids=str)
async def test_a_workflow_started_with_input_of_another_shape_fails_and_says_why(
    driver: Driver, kind: str, input_: object
) -> None:
    workflow_id = f"{kind.lower()}/{driver.release}"
    run = await driver.client.start_workflow(kind, input_, id=workflow_id, task_queue=driver.queue)
    error = await failed(run)
    assert error.type == "ValidationError"
    assert f"{kind}State" in error.message


@pytest.mark.parametrize("input_", ["now", {"trigger": "Whim"}, {"force": "perhaps"}, 7], ids=str)
async def test_a_sync_signal_that_cannot_be_read_is_dropped(
    driver: Driver, script: Script, input_: object
) -> None:
    gate = script.hold(Activity.RECORD)
    run = await driver.sync(SyncRequest(trigger=Trigger.CREATED, uid="uid-1"))
    await gate.reached()
    await signal(run, SignalName.SYNC, input_)
    gate.open()
    assert (await result(run)).reason == "Applied"
    assert script.steps().count(Activity.RESOLVE) == 1


@pytest.mark.parametrize("name", ["wake", "synch"])
async def test_a_signal_without_the_input_it_needs_or_of_an_unknown_name_does_no_harm(
    driver: Driver, script: Script, name: str
) -> None:
    gate = script.hold(Activity.RECORD)
    run = await driver.sync(SyncRequest(trigger=Trigger.CREATED, uid="uid-1"))
    await gate.reached()
    await signal(run, name)
    gate.open()
    assert (await result(run)).reason == "Applied"


@pytest.mark.parametrize("name", [SignalName.CHANGED, SignalName.OUTCOME])
async def test_a_signal_to_drift_without_input_does_no_harm(
    driver: Driver, script: Script, name: SignalName
) -> None:
    drift = await driver.drift()
    await signal(drift, name)
    await driver.changed(Cause.CREATED)
    await script.called(Activity.DRIFT_PASS)
    assert (await state(drift))["pending"] == 0


async def test_check_needs_no_input_and_minds_none(driver: Driver, script: Script) -> None:
    drift = await driver.drift()
    await drift.execute_update("check", "now")
    assert script.steps() == [Activity.DRIFT_PASS]


async def test_a_signal_with_more_input_than_it_takes_is_dropped(driver: Driver, script: Script) -> None:
    gate = script.hold(Activity.RECORD)
    run = await driver.sync(SyncRequest(trigger=Trigger.CREATED, uid="uid-1"))
    await gate.reached()
    await signal(run, SignalName.SYNC, {"trigger": "Periodic"}, "and more")
    gate.open()
    assert (await result(run)).reason == "Applied"
    assert script.steps().count(Activity.RESOLVE) == 1
