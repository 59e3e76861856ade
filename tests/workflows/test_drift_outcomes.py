"""What Sync says at the end of its passes starts the passes of `reference/drift`: no event of a watcher is needed."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from convoy.api.release import RetryBackoff, SyncPolicy
from tests.workflows.doubles import Script
from tests.workflows.driver import Driver, state, until
from tests.workflows.test_drift_clock import EARLY
from workflows.contract import Activity, Cause, Changed, DriftReport, SyncEnded, Verdict
from workflows.state import DriftState


def ended(spec_hash: str, render_ref: str, *, uid: str = "uid-1", reason: str = "Applied") -> SyncEnded:
    backoff = RetryBackoff(initial=timedelta(seconds=1000))
    return SyncEnded(
        uid, reason, SyncPolicy(retry_backoff=backoff), spec_hash=spec_hash, render_ref=render_ref
    )


def causes(script: Script) -> list[Cause]:
    return [asked.cause for asked in script.args(Activity.DRIFT_PASS)]


async def test_the_first_outcome_of_a_release_starts_the_pass_of_its_creation(
    driver: Driver, script: Script
) -> None:
    await driver.ended(ended("h1", ""))  # also where no Drift was open
    assert (await script.called(Activity.DRIFT_PASS)).cause is Cause.CREATED


@pytest.mark.parametrize(
    ("then", "cause"),
    [
        (ended("h2", "r1"), Cause.SPEC_CHANGED),
        (ended("h1", "r2"), Cause.INVENTORY_CHANGED),
        (ended("h2", "r2"), Cause.SPEC_CHANGED),
        (ended("h2", "r1", reason="WaitingForSync"), Cause.SPEC_CHANGED),
    ],
    ids=["the spec", "the applied render", "both", "a spec that waits"],
)
async def test_a_change_since_the_latest_pass_starts_one(
    driver: Driver, script: Script, then: SyncEnded, cause: Cause
) -> None:
    await driver.start_drift(DriftState(uid="uid-1", tick=0.0, compared=("h1", "r1")))
    await driver.ended(then)
    await script.called(Activity.DRIFT_PASS)
    await driver.ended(then)
    await driver.check()
    assert causes(script) == [cause, Cause.CHECK], "and the same again starts none"


async def test_a_sync_of_what_was_compared_starts_no_pass(driver: Driver, script: Script) -> None:
    script.answer(Activity.DRIFT_PASS, DriftReport(Verdict.IN_SYNC, "uid-1", spec_hash="h1", render_ref="r1"))
    await driver.drift()
    await driver.check()
    await driver.ended(ended("h1", "r1"))
    await driver.check()
    assert causes(script) == [Cause.CHECK] * 2


async def test_the_pass_that_a_running_sync_put_off_is_not_made_twice(driver: Driver, script: Script) -> None:
    script.answer(
        Activity.DRIFT_PASS,
        DriftReport(Verdict.BUSY, uid="uid-1"),
        DriftReport(Verdict.IN_SYNC, "uid-1", spec_hash="h2", render_ref="r2"),
    )
    await driver.start_drift(DriftState(uid="uid-1", tick=0.0, compared=("h1", "r1")))
    await driver.ended(ended("h2", "r1"))
    await script.called(Activity.DRIFT_PASS)
    await driver.ended(ended("h2", "r2"))
    await script.called(Activity.DRIFT_PASS, 2)
    await driver.check()
    assert causes(script) == [Cause.SPEC_CHANGED, Cause.SPEC_CHANGED, Cause.CHECK]


async def test_a_sync_of_an_earlier_version_says_nothing_of_it(driver: Driver, script: Script) -> None:
    await driver.drift()
    await driver.ended(ended("", ""))
    await driver.check()
    assert causes(script) == [Cause.CHECK]


async def test_a_late_word_of_a_release_that_is_gone_changes_nothing(driver: Driver, script: Script) -> None:
    drift = await driver.drift()
    script.answer(Activity.DRIFT_PASS, DriftReport(Verdict.IN_SYNC, uid="uid-2"))
    await driver.changed(Cause.CREATED, uid="uid-2")
    await until(drift, lambda view: view["last"] is not None)
    await driver.ended(ended("", "", uid="uid-2", reason="DeployFailed"))
    await script.called(Activity.RECORD_RETRY)
    await driver.ended(ended("h1", "r1", uid="uid-1"))
    script.answer(Activity.DRIFT_PASS, DriftReport(Verdict.IN_SYNC, uid="uid-2"))
    await driver.check()
    view = await state(drift)
    assert (view["failures"], bool(view["next_try"])) == (1, True)
    assert causes(script) == [Cause.CREATED, Cause.CHECK]


async def test_a_drift_that_an_outcome_starts_knows_the_interval(driver: Driver, script: Script) -> None:
    await driver.ended(SyncEnded("uid-1", "Applied", SyncPolicy(interval=timedelta(seconds=1000))))
    assert (await state(driver.open_drift()))["next_tick"]


async def test_a_drift_that_the_watcher_starts_knows_the_interval(driver: Driver, script: Script) -> None:
    await driver.ensure_drift(interval=timedelta(seconds=1000))
    assert (await state(driver.open_drift()))["next_tick"]


async def test_an_event_at_the_tick_does_not_hide_that_it_is_the_tick(driver: Driver, script: Script) -> None:
    await driver.start_drift(
        DriftState(uid=EARLY, tick=1.0, next_tick=1.0, inbox=[Changed(EARLY, Cause.SPEC_CHANGED, "1")])
    )
    asked = await script.called(Activity.DRIFT_PASS)
    assert (asked.cause, asked.ticked) == (Cause.SPEC_CHANGED, True)


async def test_a_render_that_is_applied_again_after_another_was_compared_is_compared(
    driver: Driver, script: Script
) -> None:
    other = DriftReport(Verdict.DRIFTED, "uid-1", spec_hash="h1", render_ref="r1", desired="r2")
    script.answer(Activity.DRIFT_PASS, other, replace(other, desired="r1"))
    await driver.start_drift(DriftState(uid="uid-1", tick=0.0, compared=("h0", "r1")))
    await driver.ended(ended("h1", "r1"))
    await script.called(Activity.DRIFT_PASS)
    await driver.ended(ended("h1", "r1", reason="WaitingForApproval"))
    await driver.ended(ended("h1", "r1"))
    await script.called(Activity.DRIFT_PASS, 2)
    await driver.ended(ended("h1", "r1"))
    await driver.check()
    assert causes(script) == [Cause.SPEC_CHANGED, Cause.INVENTORY_CHANGED, Cause.CHECK]
