"""The time that a rollout has (D28): Drift holds it, and asks for the pass that ends the rollout."""

from __future__ import annotations

import time

from convoy.api.release import SyncPolicy
from convoy.policy.trigger import Trigger
from tests.workflows.doubles import Script
from tests.workflows.driver import Driver, state
from workflows.contract import Activity, AskSync, DriftReport, SyncEnded, Verdict
from workflows.state import DriftState


def ended(due: float, uid: str = "uid-1") -> SyncEnded:
    return SyncEnded(uid, "Applied", SyncPolicy(), rollout_due=due)


async def test_a_pass_is_asked_for_when_the_time_is_up_and_not_before(driver: Driver, script: Script) -> None:
    await driver.drift()
    due = time.time() + 1.5
    await driver.ended(ended(due))
    asked = await script.called(Activity.ASK_SYNC)
    assert asked == AskSync(uid="uid-1", trigger=Trigger.ROLLOUT_FAILED)
    assert time.time() >= due
    await driver.check()
    assert script.steps() == [Activity.ASK_SYNC, Activity.DRIFT_PASS], "once"


async def test_a_time_that_was_up_before_the_pass_ended_is_no_reason_to_wait(
    driver: Driver, script: Script
) -> None:
    await driver.drift()
    await driver.ended(ended(time.time() - 5))
    assert (await script.called(Activity.ASK_SYNC)).trigger is Trigger.ROLLOUT_FAILED


async def test_a_rollout_that_became_healthy_has_no_time_any_more(driver: Driver, script: Script) -> None:
    drift = await driver.drift()
    await driver.ended(ended(time.time() + 1000))
    assert (await state(drift))["rollout_due"]
    await driver.ended(ended(0.0))
    assert (await state(drift))["rollout_due"] == ""


async def test_the_time_of_a_release_that_is_gone_is_not_the_next_ones(
    driver: Driver, script: Script
) -> None:
    drift = await driver.drift()
    await driver.ended(ended(time.time() + 1000))
    script.answer(Activity.DRIFT_PASS, DriftReport(Verdict.IN_SYNC, uid="uid-2"))
    await driver.check()
    assert (await state(drift))["rollout_due"] == ""


async def test_the_time_is_kept_when_the_workflow_continues_as_new(driver: Driver, script: Script) -> None:
    await driver.start_drift(DriftState(uid="uid-1", tick=0.0, rollout_due=time.time() + 1.0))
    assert (await script.called(Activity.ASK_SYNC)).trigger is Trigger.ROLLOUT_FAILED
