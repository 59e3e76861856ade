"""Update `check` (D37), and how a Drift workflow ends."""

from __future__ import annotations

import asyncio

import pytest
from temporalio.client import WorkflowExecutionStatus, WorkflowFailureError
from temporalio.exceptions import CancelledError

from tests.workflows.doubles import Script
from tests.workflows.driver import Driver, result, status, until
from workflows.contract import Activity, Cause, DriftReport, Verdict

GONE = DriftReport(Verdict.GONE)


async def test_check_makes_a_pass_and_answers_with_it(driver: Driver, script: Script) -> None:
    script.answer(Activity.DRIFT_PASS, DriftReport(Verdict.IN_SYNC, uid="uid-1", compared=4, in_sync=4))
    await driver.drift()
    report = await driver.check()
    assert (report.verdict, report.compared, report.in_sync) == (Verdict.IN_SYNC, 4, 4)
    assert script.args(Activity.DRIFT_PASS)[0].cause is Cause.CHECK


async def test_check_answers_with_a_pass_that_began_after_it(driver: Driver, script: Script) -> None:
    gate = script.hold(Activity.DRIFT_PASS)
    script.answer(Activity.DRIFT_PASS, DriftReport(Verdict.IN_SYNC, uid="uid-1", message="before"))
    script.answer(Activity.DRIFT_PASS, DriftReport(Verdict.IN_SYNC, uid="uid-1", message="after"))
    drift = await driver.drift()
    await driver.changed(Cause.CREATED)
    await gate.reached()
    check = asyncio.create_task(driver.check())
    await until(drift, lambda view: view["pending"] == 1)
    gate.open()
    assert (await check).message == "after"


async def test_checks_at_the_same_time_share_a_pass(driver: Driver, script: Script) -> None:
    gate = script.hold(Activity.DRIFT_PASS)
    drift = await driver.drift()
    await driver.changed(Cause.CREATED)
    await gate.reached()
    checks = [asyncio.create_task(driver.check()) for _ in range(5)]
    await until(drift, lambda view: view["pending"] == 5)
    gate.open()
    assert [(await check).verdict for check in checks] == [Verdict.IN_SYNC] * 5
    assert len(script.args(Activity.DRIFT_PASS)) == 2


async def test_drift_ends_when_its_release_is_gone(driver: Driver, script: Script) -> None:
    script.answer(Activity.DRIFT_PASS, GONE)
    drift = await driver.drift()
    await driver.changed(Cause.DELETED)
    await result(drift)
    assert await status(drift) is WorkflowExecutionStatus.COMPLETED


async def test_checks_that_wait_are_told_that_it_is_gone(driver: Driver, script: Script) -> None:
    gate = script.hold(Activity.DRIFT_PASS)
    script.answer(Activity.DRIFT_PASS, GONE)
    drift = await driver.drift()
    await driver.changed(Cause.DELETED)
    await gate.reached()
    check = asyncio.create_task(driver.check())
    await until(drift, lambda view: view["pending"] == 1)
    gate.open()
    assert (await check).verdict is Verdict.GONE
    await result(drift)


async def test_a_new_release_of_the_same_name_is_not_missed_while_the_old_one_goes(
    driver: Driver, script: Script
) -> None:
    gate = script.hold(Activity.DRIFT_PASS)
    script.answer(Activity.DRIFT_PASS, GONE)
    drift = await driver.drift()
    await driver.changed(Cause.DELETED)
    await gate.reached()
    await driver.changed(Cause.CREATED, uid="uid-2")
    gate.open()
    assert (await script.called(Activity.DRIFT_PASS, 2)).cause is Cause.CREATED
    assert (await driver.check()).verdict is Verdict.IN_SYNC
    assert await status(drift) is WorkflowExecutionStatus.RUNNING


async def test_a_release_that_is_being_deleted_keeps_its_drift(driver: Driver, script: Script) -> None:
    script.answer(Activity.DRIFT_PASS, DriftReport(Verdict.SKIPPED, uid="uid-1"))
    drift = await driver.drift()
    assert (await driver.check()).verdict is Verdict.SKIPPED
    assert await status(drift) is WorkflowExecutionStatus.RUNNING


@pytest.mark.parametrize("during_a_pass", [True, False], ids=["in a pass", "asleep"])
async def test_it_can_be_cancelled(driver: Driver, script: Script, during_a_pass: bool) -> None:
    drift = await driver.drift(tick=1000.0)
    if during_a_pass:
        gate = script.hold(Activity.DRIFT_PASS)
        await driver.changed(Cause.CREATED)
        await gate.reached()
    await drift.cancel()
    with pytest.raises(WorkflowFailureError) as ended:
        await result(drift)
    assert isinstance(ended.value.cause, CancelledError)
    if during_a_pass:
        gate.open()
