"""Workers that die, and people who stop a step by hand: the Release is told in words."""

from __future__ import annotations

from datetime import timedelta

import pytest
from temporalio.client import WorkflowExecutionStatus, WorkflowFailureError
from temporalio.common import RetryPolicy
from temporalio.exceptions import ApplicationError, CancelledError

from tests.workflows.doubles import Script, failure
from tests.workflows.driver import Driver, failed, result, status
from workflows import steps
from workflows.contract import Activity

LOST = (
    "step apply-wave did not finish: no worker completed it in time; "
    "its workflow in the web UI shows the attempts"
)


async def test_a_step_that_no_worker_finishes_is_a_failed_deploy(
    driver: Driver, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "HEARTBEAT", timedelta(seconds=5))
    monkeypatch.setattr(
        steps, "RETRY", RetryPolicy(maximum_attempts=2, initial_interval=timedelta(seconds=1))
    )
    frozen = [script.hold(Activity.APPLY_WAVE), script.hold(Activity.APPLY_WAVE)]
    error = await failed(await driver.sync())
    assert (error.type, error.message) == ("DeployFailed", LOST)
    assert (await script.called(Activity.RECORD)).outcome.reason == "DeployFailed"
    for gate in frozen:
        gate.open()


async def test_a_step_that_another_worker_finishes_is_no_failure(
    driver: Driver, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "HEARTBEAT", timedelta(seconds=5))
    frozen = script.hold(Activity.APPLY_WAVE)
    assert (await result(await driver.sync())).reason == "Applied"
    assert [wave.index for wave in script.args(Activity.APPLY_WAVE)] == [0, 0, 1]
    frozen.open()


async def test_a_step_handed_over_by_a_worker_that_stops_is_no_failure(
    driver: Driver, script: Script
) -> None:
    script.answer(Activity.DRY_RUN, ApplicationError("handed over: this worker stops", type="HandedOver"))
    assert (await result(await driver.sync())).reason == "Applied"
    assert script.steps().count(Activity.DRY_RUN) == 2


async def test_a_sync_cancelled_by_hand_stops_at_its_step_and_tells_the_release(
    driver: Driver, script: Script
) -> None:
    gate = script.hold(Activity.APPLY_WAVE)
    run = await driver.sync()
    await gate.reached()
    await run.cancel()
    error = await failed(run)
    assert (error.type, error.message) == ("DeployFailed", "step apply-wave was cancelled by hand")
    assert (await script.called(Activity.RECORD)).outcome.message == error.message
    assert script.steps().count(Activity.APPLY_WAVE) == 1
    gate.open()


async def test_a_sync_that_waits_can_be_cancelled(driver: Driver, script: Script) -> None:
    script.answer(Activity.CLAIM, failure("WaitingForOwner"))
    await driver.sync_now()
    run = driver.open_sync()
    await run.cancel()
    with pytest.raises(WorkflowFailureError) as ended:
        await result(run)
    assert isinstance(ended.value.cause, CancelledError)
    assert await status(run) is WorkflowExecutionStatus.CANCELED
