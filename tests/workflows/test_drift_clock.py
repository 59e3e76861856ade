"""The clock of a Release: its tick, and what a tick does (D33, D35)."""

from __future__ import annotations

import time

import pytest

from convoy.api.times import parse_time
from convoy.policy.spread import JITTER, phase
from convoy.policy.trigger import Trigger
from tests.workflows.doubles import Script, failure
from tests.workflows.driver import Driver, state
from workflows.contract import Activity, AskSync, Cause, DriftReport, Verdict
from workflows.state import DriftState

EARLY = "uid-94"
"""A UID whose place in the spread is near its beginning: its first tick is due after about one period."""


def report(**fields: object) -> DriftReport:
    return DriftReport(**({"verdict": Verdict.IN_SYNC, "uid": EARLY, "tick": 1.0} | fields))  # type: ignore[arg-type]


def test_the_tests_uid_ticks_early() -> None:
    assert phase(EARLY) < 0.05


@pytest.mark.parametrize("uid", ["uid-1", "uid-2", "uid-3"])
async def test_the_first_tick_is_spread_by_the_uid(driver: Driver, script: Script, uid: str) -> None:
    before = time.time()
    drift = await driver.drift(tick=1000.0, uid=uid)
    view = await state(drift)
    due = parse_time(view["next_tick"]).timestamp()
    assert before + 1000 * (1 + phase(uid)) - 1 <= due <= time.time() + 1000 * (1 + JITTER + phase(uid))


async def test_without_interval_and_resync_there_is_no_tick(driver: Driver, script: Script) -> None:
    drift = await driver.drift(tick=0.0)
    assert (await state(drift))["next_tick"] == ""


async def test_a_tick_makes_the_pass_first_and_then_asks_for_the_reconcile(
    driver: Driver, script: Script
) -> None:
    script.answer(Activity.DRIFT_PASS, report(reconcile=True))
    await driver.drift(tick=1.0, uid=EARLY)
    asked = await script.called(Activity.ASK_SYNC)
    assert script.steps()[:2] == [Activity.DRIFT_PASS, Activity.ASK_SYNC]
    assert script.args(Activity.DRIFT_PASS)[0].cause is Cause.TICK
    assert asked == AskSync(uid=EARLY, trigger=Trigger.PERIODIC)


async def test_a_tick_asks_for_nothing_where_no_reconcile_is_due(driver: Driver, script: Script) -> None:
    script.answer(Activity.DRIFT_PASS, report(reconcile=False), report(reconcile=False))
    await driver.drift(tick=1.0, uid=EARLY)
    await script.called(Activity.DRIFT_PASS, 2)
    assert Activity.ASK_SYNC not in script.steps()


async def test_a_pass_that_fails_does_not_keep_a_tick_from_asking_for_the_reconcile(
    driver: Driver, script: Script
) -> None:
    script.answer(Activity.DRIFT_PASS, failure("DeployFailed", "internal error"))
    drift = await driver.drift(tick=1.0, uid=EARLY)
    assert (await script.called(Activity.ASK_SYNC)).trigger is Trigger.PERIODIC
    last = (await state(drift))["last"]
    assert (last["verdict"], last["message"]) == ("Undetermined", "DeployFailed: internal error")


async def test_only_a_tick_asks_for_the_periodic_reconcile(driver: Driver, script: Script) -> None:
    script.answer(Activity.DRIFT_PASS, report(reconcile=True, tick=0.0))
    await driver.drift()
    await driver.changed(Cause.SPEC_CHANGED)
    await driver.check()
    assert Activity.ASK_SYNC not in script.steps()


async def test_a_changed_interval_sets_the_next_tick_anew(driver: Driver, script: Script) -> None:
    drift = await driver.drift(tick=1000.0)
    script.answer(Activity.DRIFT_PASS, report(uid="uid-1", tick=300.0))
    before = time.time()
    await driver.check()
    due = parse_time((await state(drift))["next_tick"]).timestamp()
    assert before + 300 - 1 <= due <= time.time() + 300 * (1 + JITTER)


async def test_an_interval_taken_away_ends_the_ticks(driver: Driver, script: Script) -> None:
    drift = await driver.drift(tick=1000.0)
    script.answer(Activity.DRIFT_PASS, report(uid="uid-1", tick=0.0))
    await driver.check()
    assert (await state(drift))["next_tick"] == ""


async def test_a_tick_that_is_overdue_by_a_restart_of_everything_still_comes(
    driver: Driver, script: Script
) -> None:
    await driver.start_drift(DriftState(uid=EARLY, tick=1.0, next_tick=time.time() - 3600))
    assert (await script.called(Activity.DRIFT_PASS)).cause is Cause.TICK
