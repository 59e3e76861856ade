"""A Drift workflow goes on as new before its history is long, and loses nothing."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from temporalio.client import WorkflowExecutionStatus

from convoy.api.release import RetryBackoff, SyncPolicy
from tests.workflows.doubles import SAFETY, Script
from tests.workflows.driver import Driver, state, status, until
from workflows import history
from workflows.contract import Activity, Cause, DriftReport, SyncEnded, Verdict

FAILED = SyncEnded(
    "uid-1", "DeployFailed", SyncPolicy(retry_backoff=RetryBackoff(initial=timedelta(hours=1)))
)


@pytest.fixture(autouse=True)
def short_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "EVENTS", 40)


async def test_counts_events_and_checks_survive(driver: Driver, script: Script) -> None:
    """Failures, events and checks come in at the same time, over several continuations."""
    script.tick = 1000.0
    await driver.drift(tick=1000.0)
    started = (await driver.open_drift().describe()).run_id
    failures, checks = 20, 12

    async def fail() -> None:
        for _ in range(failures):
            await driver.ended(FAILED)

    async def change() -> None:
        for number in range(30):
            await driver.changed(Cause.INVENTORY_CHANGED, str(number))

    async def check() -> list[Verdict]:
        return [(await driver.check()).verdict for _ in range(checks)]

    verdicts, *_ = await asyncio.gather(check(), fail(), change())
    assert verdicts == [Verdict.IN_SYNC] * checks
    await script.called(Activity.RECORD_RETRY, failures)
    await until(driver.open_drift(), lambda view: view["failures"] == failures)
    first = driver.client.get_workflow_handle(driver.release.drift, run_id=started)
    assert await status(first) is WorkflowExecutionStatus.CONTINUED_AS_NEW
    view = await state(driver.open_drift())
    assert view["next_try"]
    assert view["next_tick"]


async def test_signals_that_start_no_pass_make_it_go_on_too(driver: Driver, script: Script) -> None:
    await driver.drift()
    started = (await driver.open_drift().describe()).run_id
    await driver.changed(Cause.CREATED)
    first = driver.client.get_workflow_handle(driver.release.drift, run_id=started)
    async with asyncio.timeout(SAFETY):
        while await status(first) is WorkflowExecutionStatus.RUNNING:
            await driver.changed(Cause.CREATED)
    assert await status(first) is WorkflowExecutionStatus.CONTINUED_AS_NEW
    assert len(script.args(Activity.DRIFT_PASS)) == 1
    assert (await state(driver.open_drift()))["passes"] == 1


async def test_a_check_that_waits_for_a_sync_holds_the_continuation_back(
    driver: Driver, script: Script
) -> None:
    script.answer(Activity.DRIFT_PASS, DriftReport(Verdict.BUSY, uid="uid-1"))
    await driver.drift()
    check = asyncio.create_task(driver.check())
    await script.called(Activity.DRIFT_PASS)
    for number in range(60):
        await driver.changed(Cause.INVENTORY_CHANGED, str(number))
    assert not check.done()
    await driver.ended(SyncEnded("uid-1", "Applied", SyncPolicy()))
    assert (await check).verdict is Verdict.IN_SYNC
