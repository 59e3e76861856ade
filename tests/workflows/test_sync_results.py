"""How a run ends: Completed for successes and waits, Failed with the condition's reason for failures."""

from __future__ import annotations

import pytest
from temporalio.client import WorkflowExecutionStatus

from convoy.api.errors import Hold, Terminal, Transient, WaitingForOwner, error_classes
from tests.workflows.doubles import Script, failure
from tests.workflows.driver import Driver, failed, result, status
from workflows.contract import Activity, Decision, Resolved, SyncRequest

FAILURES = [leaf.reason for leaf in error_classes().values() if issubclass(leaf, Transient | Terminal)]
HOLDS = [
    leaf.reason for leaf in error_classes().values() if issubclass(leaf, Hold) and leaf is not WaitingForOwner
]


async def test_a_success_completes_the_run(driver: Driver, script: Script) -> None:
    settled = await result(await driver.sync())
    assert (settled.status, settled.reason) == ("True", "Applied")
    assert settled.message == "applied 4 objects of main@1"
    assert (settled.render_ref, settled.requested_at, settled.changed) == ("r1", "2026-01-01T00:00:00Z", True)


@pytest.mark.parametrize("reason", FAILURES)
async def test_a_failure_fails_the_run_with_its_reason_as_type(
    driver: Driver, script: Script, reason: str
) -> None:
    script.answer(Activity.CLAIM, failure(reason, "because"))
    error = await failed(await driver.sync())
    assert (error.type, error.message) == (reason, "because")
    outcome = (await script.called(Activity.RECORD)).outcome
    assert (outcome.reason, outcome.message, outcome.applied) == (reason, "because", False)


@pytest.mark.parametrize("reason", HOLDS)
async def test_a_wait_completes_the_run(driver: Driver, script: Script, reason: str) -> None:
    script.answer(Activity.RESOLVE, Resolved(Decision.STOP, script.plan, reason, "waits"))
    run = await driver.sync()
    settled = await result(run)
    assert (settled.status, settled.reason) == ("False", reason)
    assert await status(run) is WorkflowExecutionStatus.COMPLETED
    assert not (await script.called(Activity.RECORD)).attempted


async def test_in_sync_in_manual_mode_is_told_as_applied_without_an_attempt(
    driver: Driver, script: Script
) -> None:
    script.answer(Activity.RESOLVE, Resolved(Decision.STOP, script.plan, "Applied", "in sync"))
    settled = await result(await driver.sync())
    assert (settled.status, settled.reason, settled.changed) == ("True", "Applied", False)
    assert not (await script.called(Activity.RECORD)).attempted


async def test_a_failure_before_the_plan_is_recorded_for_the_release_that_was_meant(
    driver: Driver, script: Script
) -> None:
    script.answer(Activity.RESOLVE, failure("DeployFailed", "internal error"))
    await failed(await driver.sync())
    recorded = await script.called(Activity.RECORD)
    assert (recorded.plan.uid, recorded.attempted) == ("uid-1", False)


async def test_a_result_that_cannot_be_written_fails_the_run_and_names_both(
    driver: Driver, script: Script
) -> None:
    script.answer(Activity.RECORD, failure("DeployFailed", "forbidden"))
    error = await failed(await driver.sync())
    assert error.type == "DeployFailed"
    assert error.message == (
        "Applied (applied 4 objects of main@1), but the result could not be written: DeployFailed: forbidden"
    )


async def test_a_wait_that_cannot_be_written_does_not_keep_the_run_open(
    driver: Driver, script: Script
) -> None:
    script.answer(Activity.CLAIM, failure("WaitingForOwner"))
    script.answer(Activity.RECORD, failure("DeployFailed", "forbidden"))
    assert (await failed(await driver.sync())).type == "DeployFailed"


async def test_an_error_of_an_activity_that_is_no_reason_is_a_failed_deploy(
    driver: Driver, script: Script
) -> None:
    script.answer(Activity.APPLY_WAVE, failure("Fenced", "another attempt has taken over"))
    error = await failed(await driver.sync())
    assert (error.type, error.message) == ("DeployFailed", "step apply-wave: another attempt has taken over")


async def test_the_echo_of_a_finished_request_does_not_hide_a_failure(driver: Driver, script: Script) -> None:
    gate = script.hold(Activity.CLAIM)
    script.answer(Activity.CLAIM, failure("DeployFailed"))
    run = await driver.sync()
    await gate.reached()
    script.answer(Activity.RESOLVE, Resolved(Decision.NOTHING, message="seen already"))
    await driver.sync(SyncRequest(id="echo", uid="uid-1"))
    gate.open()
    assert (await failed(run)).type == "DeployFailed"
