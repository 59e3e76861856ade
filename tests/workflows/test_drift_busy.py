"""A pass that meets a running Sync waits for its end, at most until the tick: half-applied waves are no drift (D35)."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from convoy.api.release import SyncPolicy
from tests.workflows.doubles import Script
from tests.workflows.driver import Driver, state, until
from tests.workflows.test_drift_clock import EARLY
from workflows.contract import Activity, Cause, DriftReport, SyncEnded, Verdict
from workflows.state import DriftState

BUSY = DriftReport(Verdict.BUSY, uid="uid-1")
ENDED = SyncEnded("uid-1", "Applied", SyncPolicy())


async def test_the_pass_is_made_again_when_the_sync_ends(driver: Driver, script: Script) -> None:
    script.answer(Activity.DRIFT_PASS, BUSY)
    await driver.changed(Cause.SPEC_CHANGED)
    await script.called(Activity.DRIFT_PASS)
    await driver.ended(ENDED)
    assert (await script.called(Activity.DRIFT_PASS, 2)).cause is Cause.SPEC_CHANGED


async def test_events_meanwhile_start_no_pass(driver: Driver, script: Script) -> None:
    script.answer(Activity.DRIFT_PASS, BUSY)
    drift = await driver.drift()
    await driver.changed(Cause.SPEC_CHANGED)
    await script.called(Activity.DRIFT_PASS)
    await until(drift, lambda view: view["pending"] == 1)
    await driver.changed(Cause.INVENTORY_CHANGED)
    assert (await state(drift))["pending"] == 2
    assert len(script.args(Activity.DRIFT_PASS)) == 1
    await driver.ended(ENDED)
    await script.called(Activity.DRIFT_PASS, 2)


async def test_a_sync_that_ends_during_the_pass_that_meets_it_is_not_missed(
    driver: Driver, script: Script
) -> None:
    gate = script.hold(Activity.DRIFT_PASS)
    script.answer(Activity.DRIFT_PASS, BUSY)
    await driver.changed(Cause.SPEC_CHANGED)
    await gate.reached()
    await driver.ended(ENDED)
    gate.open()
    await script.called(Activity.DRIFT_PASS, 2)


async def test_a_check_is_answered_by_the_pass_after_the_sync(driver: Driver, script: Script) -> None:
    script.answer(Activity.DRIFT_PASS, BUSY)
    await driver.drift()
    check = asyncio.create_task(driver.check())
    await script.called(Activity.DRIFT_PASS)
    await driver.ended(ENDED)
    assert (await check).verdict is Verdict.IN_SYNC


async def test_the_tick_bounds_the_wait(driver: Driver, script: Script) -> None:
    script.tick = 5.0
    script.answer(Activity.DRIFT_PASS, DriftReport(Verdict.BUSY, uid=EARLY, tick=5.0))
    await driver.drift(tick=5.0, uid=EARLY)
    check = asyncio.create_task(driver.check())
    assert (await check).verdict is Verdict.IN_SYNC
    asked = script.args(Activity.DRIFT_PASS)[:2]
    assert [(one.cause, one.ticked) for one in asked] == [(Cause.CHECK, False), (Cause.CHECK, True)]


async def test_a_tick_that_meets_a_sync_is_made_up_for_at_its_end(driver: Driver, script: Script) -> None:
    script.answer(Activity.DRIFT_PASS, DriftReport(Verdict.BUSY, uid=EARLY, tick=1000.0))
    script.tick = 1000.0
    await driver.drift(tick=1.0, uid=EARLY)
    asked = await script.called(Activity.DRIFT_PASS)
    assert (asked.cause, asked.ticked) == (Cause.TICK, True), "a Sync that was terminated holds nothing up"
    await driver.ended(SyncEnded(EARLY, "Applied", SyncPolicy(interval=timedelta(seconds=1000))))
    assert (await script.called(Activity.DRIFT_PASS, 2)).cause is Cause.SYNC_ENDED


async def test_without_a_tick_the_wait_is_bounded_too_and_leaves_no_tick_behind(
    driver: Driver, script: Script
) -> None:
    script.answer(Activity.DRIFT_PASS, BUSY)
    drift = await driver.drift()
    check = asyncio.create_task(driver.check())
    await script.called(Activity.DRIFT_PASS)
    await until(drift, lambda view: bool(view["next_tick"]))
    await driver.ended(ENDED)
    await check
    assert (await state(drift))["next_tick"] == ""


async def test_a_busy_drift_that_continued_as_new_still_waits(driver: Driver, script: Script) -> None:
    drift = await driver.start_drift(DriftState(uid="uid-1", tick=1000.0, busy=True))
    await driver.changed(Cause.SPEC_CHANGED)
    assert (await state(drift))["pending"] == 1
    assert script.calls == []
    await driver.ended(ENDED)
    await script.called(Activity.DRIFT_PASS)
