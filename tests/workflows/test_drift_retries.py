"""After a failed sync: the count, the delay, and the retry (`reference/sync-policy`, Requeue rules; D34)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from convoy.api.release import RetryBackoff, SyncPolicy
from convoy.api.times import parse_time
from convoy.policy.trigger import Trigger
from tests.workflows.doubles import Script
from tests.workflows.driver import Driver, state, until
from workflows.contract import Activity, AskSync, Cause, DriftReport, RecordRetry, SyncEnded, Verdict
from workflows.state import DriftState


def ended(reason: str = "DeployFailed", initial: float | None = 100.0, **fields: float) -> SyncEnded:
    backoff = RetryBackoff(initial=timedelta(seconds=initial) if initial is not None else None, **fields)
    return SyncEnded("uid-1", reason, SyncPolicy(retry_backoff=backoff))


async def test_the_retry_comes_after_the_delay_of_the_policy(driver: Driver, script: Script) -> None:
    await driver.drift()
    before = datetime.now(UTC)
    await driver.ended(ended(initial=1.0))
    asked = await script.called(Activity.ASK_SYNC)
    assert asked == AskSync(uid="uid-1", trigger=Trigger.RETRY)
    assert datetime.now(UTC) - before >= timedelta(seconds=1)


async def test_failures_count_up_and_the_delays_with_them(driver: Driver, script: Script) -> None:
    drift = await driver.drift()
    for failures, delay in ((1, 100), (2, 300), (3, 900), (4, 1000)):
        before = datetime.now(UTC).replace(microsecond=0)  # times on a Release are whole seconds
        await driver.ended(ended(factor=3.0))
        recorded = await script.called(Activity.RECORD_RETRY, failures)
        assert recorded.failures == failures
        assert before <= parse_time(recorded.at) - timedelta(seconds=delay) <= datetime.now(UTC)
    assert (await state(drift))["failures"] == 4


@pytest.mark.parametrize("reason", ["Applied", "WaitingForSync", "Suspended", "WaitingForOwner"])
async def test_a_success_and_a_hold_reset_the_count_and_take_the_retry_back(
    driver: Driver, script: Script, reason: str
) -> None:
    drift = await driver.drift()
    await driver.ended(ended())
    await script.called(Activity.RECORD_RETRY)
    await driver.ended(ended(reason))
    recorded = await script.called(Activity.RECORD_RETRY, 2)
    assert recorded == RecordRetry(uid="uid-1", failures=0, at="")
    view = await state(drift)
    assert (view["failures"], view["next_try"]) == (0, "")


@pytest.mark.parametrize("reason", ["Unsupported", "Unappliable", "Pinned", "HookFailed"])
async def test_what_is_not_transient_keeps_the_count_and_is_not_retried(
    driver: Driver, script: Script, reason: str
) -> None:
    drift = await driver.drift()
    await driver.ended(ended())
    await script.called(Activity.RECORD_RETRY)
    await driver.ended(ended(reason))
    assert (await script.called(Activity.RECORD_RETRY, 2)).at == ""
    view = await state(drift)
    assert (view["failures"], view["next_try"]) == (1, "")


async def test_a_success_after_no_failure_writes_nothing(driver: Driver, script: Script) -> None:
    await driver.drift()
    await driver.ended(ended("Applied"))
    await driver.check()
    assert script.steps() == [Activity.DRIFT_PASS]


async def test_delays_below_a_second_go_to_the_next_passs_first_activity(
    driver: Driver, script: Script
) -> None:
    await driver.drift()
    for number, delay in enumerate((5, 10, 20, 40), 1):
        await driver.ended(ended(initial=None))
        asked = await script.called(Activity.ASK_SYNC, number)
        assert asked == AskSync(uid="uid-1", trigger=Trigger.RETRY, delay_ms=delay)
    assert Activity.RECORD_RETRY not in script.steps()


async def test_the_default_limiter_comes_to_seconds_and_then_a_timer(driver: Driver, script: Script) -> None:
    await driver.start_drift(DriftState(uid="uid-1", tick=0.0, failures=8))
    await driver.ended(ended(initial=None))
    assert (await script.called(Activity.RECORD_RETRY)).failures == 9
    assert (await script.called(Activity.ASK_SYNC)).delay_ms == 0  # 5 ms doubled eight times is 1.28 s


async def test_a_newer_failure_replaces_the_retry(driver: Driver, script: Script) -> None:
    await driver.drift()
    await driver.ended(ended(initial=1000.0))
    await script.called(Activity.RECORD_RETRY)
    await driver.ended(ended(initial=1.0, factor=1.0))
    assert (await script.called(Activity.ASK_SYNC)).trigger is Trigger.RETRY


async def test_the_results_of_many_passes_are_each_counted(driver: Driver, script: Script) -> None:
    gate = script.hold(Activity.DRIFT_PASS)
    drift = await driver.drift()
    await driver.changed(Cause.CREATED)
    await gate.reached()
    for _ in range(3):
        await driver.ended(ended())
    gate.open()
    assert (await script.called(Activity.RECORD_RETRY, 3)).failures == 3
    assert (await state(drift))["failures"] == 3


async def test_another_release_of_the_same_name_starts_from_zero(driver: Driver, script: Script) -> None:
    drift = await driver.drift()
    await driver.ended(ended())
    await script.called(Activity.RECORD_RETRY)
    script.answer(Activity.DRIFT_PASS, DriftReport(Verdict.IN_SYNC, uid="uid-2"))
    await driver.changed(Cause.CREATED, uid="uid-2")
    await script.called(Activity.DRIFT_PASS)
    view = await until(drift, lambda view: view["last"] is not None)
    assert (view["failures"], view["next_try"]) == (0, "")
