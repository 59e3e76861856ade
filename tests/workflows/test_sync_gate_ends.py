"""What ends a wait at a gate, what does not, and what comes then (D25)."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest
from temporalio.client import WorkflowExecutionStatus, WorkflowFailureError
from temporalio.exceptions import CancelledError

from convoy.policy.trigger import Trigger
from tests.workflows.doubles import Script, failure
from tests.workflows.driver import Driver, failed, result, state, status
from tests.workflows.gating import CLOSED, LONG, REACHED, SICK, put_gate
from workflows import gates
from workflows.contract import (
    Activity,
    Decision,
    HealthAnswer,
    Plan,
    Resolved,
    Settled,
    SyncRequest,
    WaveHealth,
    WavePlan,
    WaveResult,
)
from workflows.telling import time_of


async def test_another_render_ends_the_wait(driver: Driver, gated: Script, waiting: Settled) -> None:
    gated.plan = replace(gated.plan, render_ref="r2", waves=(WavePlan(0, 1),))
    run = driver.open_sync()
    await driver.sync(SyncRequest(trigger=Trigger.PERIODIC, uid="uid-1"))
    settled = await result(run)
    assert (settled.reason, settled.render_ref) == ("Applied", "r2")
    assert len(gated.args(Activity.CHECK_HEALTH)) == 2


@pytest.mark.parametrize(
    ("trigger", "force"), [(Trigger.SPEC_CHANGED, ""), (Trigger.SYNC_REQUESTED, "2026-01-03T00:00:00Z")]
)
async def test_a_changed_spec_and_a_force_end_the_wait_and_start_from_the_beginning(
    driver: Driver, gated: Script, waiting: Settled, trigger: Trigger, force: str
) -> None:
    gated.reads(trigger, force_requested_at=force)
    gated.answer(Activity.CHECK_HEALTH, *CLOSED)
    await driver.sync(SyncRequest(trigger=trigger, uid="uid-1", id="new"))
    recorded = await gated.called(Activity.RECORD, 2)
    assert [wave.index for wave in gated.args(Activity.APPLY_WAVE)] == [0, 1, 0, 1]
    assert recorded.plan.started_at == "2026-01-01T09:09:09Z"


async def test_a_suspended_release_closes_the_run(driver: Driver, gated: Script, waiting: Settled) -> None:
    gated.answer(Activity.RESOLVE, Resolved(Decision.STOP, gated.plan, "Suspended", "spec.suspend is true"))
    run = driver.open_sync()
    await driver.sync(SyncRequest(trigger=Trigger.SPEC_CHANGED, uid="uid-1", id="suspended"))
    assert (await result(run)).reason == "Suspended"


async def test_a_deletion_ends_the_wait_with_the_teardown(
    driver: Driver, gated: Script, waiting: Settled
) -> None:
    gated.answer(Activity.RESOLVE, Resolved(Decision.TEARDOWN, gated.plan))
    run = driver.open_sync()
    await driver.sync(SyncRequest(trigger=Trigger.DELETED, uid="uid-1"))
    assert (await result(run)).reason == "Deleted"


async def test_a_deletion_whose_teardown_fails_ends_the_wait_too(
    driver: Driver, gated: Script, waiting: Settled
) -> None:
    gated.answer(Activity.RESOLVE, Resolved(Decision.TEARDOWN, gated.plan))
    gated.answer(Activity.TEARDOWN, failure("ClusterNotReady", "no route"))
    run = driver.open_sync()
    await driver.sync(SyncRequest(trigger=Trigger.DELETED, uid="uid-1"))
    assert (await failed(run)).type == "ClusterNotReady"


async def test_the_wait_ends_where_another_release_has_the_name(
    driver: Driver, gated: Script, waiting: Settled
) -> None:
    gated.answer(Activity.RESOLVE, Resolved(Decision.NOTHING, Plan(uid="uid-2"), message="seen already"))
    run = driver.open_sync()
    await driver.sync(SyncRequest(trigger=Trigger.PERIODIC, uid="uid-2"))
    assert (await result(run)).reason == "WaitingForWave"


async def test_a_request_that_was_seen_already_leaves_the_wait_as_it_is(
    driver: Driver, gated: Script, waiting: Settled
) -> None:
    gated.answer(Activity.RESOLVE, Resolved(Decision.NOTHING, Plan(uid="uid-1"), message="seen already"))
    assert (await driver.sync_now()).reason == "Nothing"
    assert (await state(driver.open_sync()))["reason"] == "WaitingForWave"


async def test_an_unreachable_source_is_told_and_extends_no_deadline(
    driver: Driver, gated: Script, waiting: Settled
) -> None:
    gated.answer(Activity.RESOLVE, Resolved(Decision.STOP, Plan(uid="uid-1"), "SourceNotReady", "no route"))
    assert (await driver.sync_now()).reason == "SourceNotReady"
    gated.reads(Trigger.RETRY)
    gated.answer(Activity.CHECK_HEALTH, SICK)
    await driver.sync(SyncRequest(trigger=Trigger.RETRY, uid="uid-1"))
    assert (await gated.called(Activity.RECORD, 3)).outcome.message == waiting.message


@pytest.mark.parametrize(
    "newer",
    [
        {"trigger": Trigger.SPEC_CHANGED},
        {"force_requested_at": "2026-01-03T00:00:00Z"},
        {"trigger": Trigger.RESTARTED, "spec_hash": "another"},
    ],
    ids=["another spec", "a force", "another spec, whose first attempt died"],
)
async def test_news_end_the_wait_though_the_source_is_unreachable(
    driver: Driver, gated: Script, newer: dict[str, Any]
) -> None:
    gated.plan = replace(gated.plan, spec_hash="this")
    gated.answer(Activity.CHECK_HEALTH, *CLOSED)
    await driver.sync_now()
    run = driver.open_sync()
    plan = replace(Plan(uid="uid-1"), **newer)
    gated.answer(Activity.RESOLVE, Resolved(Decision.STOP, plan, "SourceNotReady", "no route"))
    assert (await driver.sync_now()).reason == "SourceNotReady"
    assert (await failed(run)).type == "SourceNotReady"


async def test_a_force_is_used_up_by_the_pass_that_began_the_wait(driver: Driver, gated: Script) -> None:
    forced = replace(gated.plan, force_requested_at="2026-01-01T00:00:00Z")
    gated.answer(Activity.RESOLVE, Resolved(Decision.APPLY, forced))
    gated.answer(Activity.CHECK_HEALTH, *CLOSED, SICK)
    await driver.sync_now()
    assert Activity.DRY_RUN not in gated.steps()
    gated.reads(Trigger.PERIODIC)
    await driver.sync(SyncRequest(trigger=Trigger.PERIODIC, uid="uid-1"))
    again = (await gated.called(Activity.RECORD, 2)).plan
    assert Activity.DRY_RUN in gated.steps()
    assert not again.forced


async def test_a_cluster_that_cannot_be_asked_for_health_is_told_and_extends_no_deadline(
    driver: Driver, gated: Script, waiting: Settled
) -> None:
    gated.reads(Trigger.HEALTH_CHANGED)
    gated.answer(Activity.CHECK_HEALTH, failure("ClusterNotReady", "no route"))
    await driver.sync(SyncRequest(trigger=Trigger.HEALTH_CHANGED, uid="uid-1", id="other health"))
    outcome = (await gated.called(Activity.RECORD, 2)).outcome
    until_then = waiting.message.partition(" for wave ")[0]
    assert outcome.message == f"{until_then} for wave 1 to be healthy: ClusterNotReady: no route"


async def test_a_cluster_that_cannot_be_asked_at_the_first_look_is_a_failure_like_any_other(
    driver: Driver, gated: Script
) -> None:
    gated.answer(Activity.CHECK_HEALTH, failure("ClusterNotReady", "no route"))
    assert (await failed(await driver.sync())).type == "ClusterNotReady"


async def test_a_wave_that_fails_when_it_is_applied_again_ends_the_wait(
    driver: Driver, gated: Script, waiting: Settled
) -> None:
    gated.reads(Trigger.PERIODIC)
    gated.answer(Activity.APPLY_WAVE, failure("DeployFailed", "no"))
    run = driver.open_sync()
    await driver.sync(SyncRequest(trigger=Trigger.PERIODIC, uid="uid-1"))
    assert (await failed(run)).message == "no"


@pytest.mark.parametrize("step", [Activity.CLAIM, Activity.DRY_RUN])
async def test_a_failure_before_anything_is_applied_again_does_not_end_the_wait(
    driver: Driver, gated: Script, waiting: Settled, step: Activity
) -> None:
    gated.reads(Trigger.PERIODIC)
    gated.answer(step, failure("ClusterNotReady", "no route"))
    run = driver.open_sync()
    await driver.sync(SyncRequest(trigger=Trigger.PERIODIC, uid="uid-1"))
    assert (await gated.called(Activity.RECORD, 2)).outcome.reason == "ClusterNotReady"
    gated.reads(Trigger.RETRY)
    gated.answer(Activity.CHECK_HEALTH, SICK)
    await driver.sync(SyncRequest(trigger=Trigger.RETRY, uid="uid-1"))
    assert (await gated.called(Activity.RECORD, 3)).outcome.message == waiting.message
    assert await status(run) is WorkflowExecutionStatus.RUNNING


async def test_what_is_refused_before_anything_is_applied_again_ends_the_wait(
    driver: Driver, gated: Script, waiting: Settled
) -> None:
    gated.reads(Trigger.PERIODIC)
    gated.answer(Activity.DRY_RUN, failure("Unappliable", "no"))
    run = driver.open_sync()
    await driver.sync(SyncRequest(trigger=Trigger.PERIODIC, uid="uid-1"))
    assert (await failed(run)).type == "Unappliable"


async def test_what_ends_a_wait_moves_no_deadline(driver: Driver, gated: Script, waiting: Settled) -> None:
    gated.reads(Trigger.SYNC_REQUESTED)
    gated.answer(Activity.APPLY_WAVE, failure("DeployFailed", "no"))
    run = driver.open_sync()
    await driver.sync(SyncRequest(trigger=Trigger.SYNC_REQUESTED, uid="uid-1", id="asked"))
    await failed(run)
    told, kept = (one.plan for one in gated.args(Activity.RECORD))
    assert told.closed_until > time.time() + LONG / 2
    assert [(one.failed_gate, one.closed_until) for one in (told, kept)] == [(2, told.closed_until)] * 2


async def test_the_next_attempt_waits_no_longer_than_the_one_before_it(driver: Driver, gated: Script) -> None:
    until = time.time() + LONG / 2
    gated.plan = replace(gated.plan, trigger=Trigger.RETRY, failed_gate=2, closed_until=until)
    gated.answer(Activity.CHECK_HEALTH, SICK)
    settled = await driver.sync_now()
    assert settled.message == f"wave 5 waits until {time_of(until)} for wave 1 to be healthy: {SICK.message}"
    assert gated.steps().count(Activity.CHECK_HEALTH) == 1


async def test_a_gate_that_has_opened_is_closed_no_more_for_the_next_attempt(
    driver: Driver, gated: Script
) -> None:
    gated.plan = replace(gated.plan, trigger=Trigger.RETRY, failed_gate=2, closed_until=time.time() + LONG)
    gated.answer(Activity.APPLY_WAVE, *[WaveResult(applied=1, changed=0)] * 2, failure("DeployFailed", "no"))
    await failed(await driver.sync())
    assert (await gated.called(Activity.RECORD)).plan.failed_gate == 0


async def test_health_that_is_reached_while_the_wait_begins_is_not_missed(
    driver: Driver, gated: Script
) -> None:
    gated.answer(Activity.CHECK_HEALTH, *CLOSED)
    gate = gated.hold(Activity.RECORD)
    run = await driver.sync()
    await gate.reached()
    gated.reads(Trigger.HEALTH_REACHED)
    await driver.sync(REACHED)
    gate.open()
    assert (await result(run)).reason == "Applied"


async def test_a_gate_that_could_not_be_recorded_does_not_keep_the_run_open(
    driver: Driver, gated: Script
) -> None:
    gated.answer(Activity.CHECK_HEALTH, *CLOSED)
    gated.answer(Activity.RECORD, failure("DeployFailed", "forbidden"))
    assert (await failed(await driver.sync())).type == "DeployFailed"


async def test_a_run_that_is_cancelled_by_hand_in_its_wait_ends_and_the_next_request_starts_another(
    driver: Driver, gated: Script, waiting: Settled
) -> None:
    run = driver.open_sync()
    await run.cancel()
    with pytest.raises(WorkflowFailureError) as ended:
        await result(run)
    assert isinstance(ended.value.cause, CancelledError)
    assert (await driver.sync_now()).reason == "Applied"


# --- the deadline --------------------------------------------------------------------------------


@pytest.fixture
def short(script: Script) -> Script:
    """The gate waits for some seconds."""
    return put_gate(script, timeout=5.0)


async def test_at_the_deadline_health_is_looked_at_once_more_and_then_the_sync_fails(
    driver: Driver, short: Script
) -> None:
    short.answer(Activity.CHECK_HEALTH, *CLOSED, SICK)
    short.reads(Trigger.SPEC_CHANGED)
    short.reads(Trigger.TIMED_OUT)
    error = await failed(await driver.sync())
    assert error.type == "DeployFailed"
    assert error.message == (
        "wave 5 is not applied, since wave 1 is not healthy after 5s: "
        "Deployment.apps shop/mill: 0 of 1 replicas are ready"
    )
    assert [one.trigger for one in short.args(Activity.RESOLVE)[1].requests] == [Trigger.TIMED_OUT]
    assert short.args(Activity.RECORD)[-1].health == WaveHealth(1, "Failed")
    assert [wave.index for wave in short.args(Activity.APPLY_WAVE)] == [0, 1]


async def test_a_wave_that_is_healthy_at_the_last_look_opens_the_gate(driver: Driver, short: Script) -> None:
    short.answer(Activity.CHECK_HEALTH, *CLOSED)
    short.reads(Trigger.SPEC_CHANGED)
    short.reads(Trigger.TIMED_OUT)
    assert (await result(await driver.sync())).reason == "Applied"


async def test_a_source_that_is_unreachable_at_the_deadline_ends_the_wait(
    driver: Driver, short: Script
) -> None:
    short.answer(Activity.CHECK_HEALTH, *CLOSED)
    short.reads(Trigger.SPEC_CHANGED)
    short.answer(Activity.RESOLVE, Resolved(Decision.STOP, Plan(uid="uid-1"), "SourceNotReady", "no route"))
    assert (await failed(await driver.sync())).type == "SourceNotReady"


async def test_a_moment_is_no_longer_than_the_timeout_of_the_gate(
    driver: Driver, short: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gates, "GRACE", LONG)
    short.answer(Activity.CHECK_HEALTH, *CLOSED)
    assert (await failed(await driver.sync())).type == "DeployFailed"


async def test_a_retry_after_the_deadline_looks_once_and_fails_at_once(driver: Driver, gated: Script) -> None:
    gated.plan = replace(gated.plan, trigger=Trigger.RETRY, failed_gate=2, closed_until=time.time() - 1)
    gated.answer(Activity.CHECK_HEALTH, SICK)
    error = await failed(await driver.sync())
    assert (error.type, error.message) == (
        "DeployFailed",
        f"wave 5 is not applied, since wave 1 is not healthy after 10m0s: {SICK.message}",
    )
    assert gated.steps().count(Activity.CHECK_HEALTH) == 1
    assert [one.outcome.reason for one in gated.args(Activity.RECORD)] == ["DeployFailed"]
    assert gated.args(Activity.RECORD)[-1].health == WaveHealth(1, "Failed")


async def test_a_gate_whose_time_is_up_keeps_failing_where_the_cluster_cannot_be_asked(
    driver: Driver, gated: Script
) -> None:
    until = time.time() - 1
    gated.plan = replace(gated.plan, trigger=Trigger.RETRY, failed_gate=2, closed_until=until)
    gated.answer(Activity.CHECK_HEALTH, failure("ClusterNotReady", "no route"))
    assert (await failed(await driver.sync())).type == "DeployFailed"
    assert (await gated.called(Activity.RECORD)).plan.closed_until == until


async def test_a_retry_that_finds_the_wave_healthy_goes_on_and_a_later_gate_has_its_own_time(
    driver: Driver, gated: Script
) -> None:
    waves = tuple(WavePlan(wave, 1, gate=wave > 0, timeout=LONG) for wave in range(3))
    gated.plan = replace(gated.plan, waves=waves, failed_gate=1)
    gated.answer(Activity.CHECK_HEALTH, HealthAnswer(healthy=True), *CLOSED)
    assert (await driver.sync_now()).reason == "WaitingForWave"
    assert [wave.index for wave in gated.args(Activity.APPLY_WAVE)] == [0, 1]
