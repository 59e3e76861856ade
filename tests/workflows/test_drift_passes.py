"""What starts a drift pass (`reference/drift`), and what a pass does with what it finds."""

from __future__ import annotations

import pytest

from convoy.policy.trigger import Trigger
from tests.workflows.doubles import Script, failure
from tests.workflows.driver import Driver, state
from workflows.contract import Activity, AskSync, Cause, DriftReport, Verdict


@pytest.mark.parametrize("cause", [Cause.CREATED, Cause.SPEC_CHANGED, Cause.INVENTORY_CHANGED])
async def test_an_event_of_the_page_starts_a_pass(driver: Driver, script: Script, cause: Cause) -> None:
    await driver.changed(cause)  # also where no Drift was open
    assert (await script.called(Activity.DRIFT_PASS)).cause is cause


async def test_the_same_event_twice_is_one_pass(driver: Driver, script: Script) -> None:
    await driver.changed(Cause.SPEC_CHANGED, "1")
    await script.called(Activity.DRIFT_PASS)
    await driver.changed(Cause.SPEC_CHANGED, "1")
    await driver.changed(Cause.SPEC_CHANGED, "2")
    await script.called(Activity.DRIFT_PASS, 2)
    await driver.check()
    assert len(script.args(Activity.DRIFT_PASS)) == 3


async def test_events_during_a_pass_are_one_more(driver: Driver, script: Script) -> None:
    gate = script.hold(Activity.DRIFT_PASS)
    await driver.changed(Cause.CREATED)
    await gate.reached()
    for number in range(70):
        await driver.changed(Cause.INVENTORY_CHANGED, str(number))
    gate.open()
    await script.called(Activity.DRIFT_PASS, 2)
    await driver.check()
    assert len(script.args(Activity.DRIFT_PASS)) == 3


async def test_self_heal_asks_through_the_annotation_as_a_user_would(driver: Driver, script: Script) -> None:
    script.answer(Activity.DRIFT_PASS, DriftReport(Verdict.DRIFTED, uid="uid-1", heal=True, reconcile=True))
    await driver.changed(Cause.CREATED)
    asked = await script.called(Activity.ASK_SYNC)
    assert asked == AskSync(uid="uid-1", trigger=Trigger.SELF_HEAL, annotate=True)


async def test_drift_is_only_told_where_nothing_is_to_be_healed(driver: Driver, script: Script) -> None:
    script.answer(Activity.DRIFT_PASS, DriftReport(Verdict.DRIFTED, uid="uid-1", message="1 of 2 drifted"))
    drift = await driver.drift()
    report = await driver.check()
    assert (report.verdict, report.message) == (Verdict.DRIFTED, "1 of 2 drifted")
    assert (await state(drift))["last"]["message"] == "1 of 2 drifted"
    assert Activity.ASK_SYNC not in script.steps()


async def test_what_was_healed_reaches_the_next_pass(driver: Driver, script: Script) -> None:
    fights = (("ConfigMap a/b /data/x",),)
    script.answer(Activity.DRIFT_PASS, DriftReport(Verdict.DRIFTED, uid="uid-1", fights=fights))
    script.answer(Activity.DRIFT_PASS, failure("DeployFailed"))
    await driver.drift()
    for _ in range(3):
        await driver.check()
    assert [asked.fights for asked in script.args(Activity.DRIFT_PASS)] == [(), fights, fights]


async def test_an_ask_that_fails_does_not_stop_the_clock(driver: Driver, script: Script) -> None:
    script.answer(Activity.DRIFT_PASS, DriftReport(Verdict.DRIFTED, uid="uid-1", heal=True))
    script.answer(Activity.ASK_SYNC, failure("DeployFailed", "convoy's own API server"))
    await driver.drift()
    await driver.check()
    assert (await driver.check()).verdict is Verdict.IN_SYNC
