"""Waves with strategy Health: the sync waits durably for the wave before, and what ends the wait (D25)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from temporalio.client import WorkflowExecutionStatus

from convoy.policy.trigger import Trigger
from tests.workflows.doubles import Gate, Script, failure
from tests.workflows.driver import Driver, failed, result, state, status, until
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

SICK = HealthAnswer(healthy=False, message="Deployment.apps shop/mill: 0 of 1 replicas are ready")
CLOSED = (SICK, SICK)
"""A gate that is found closed is looked at once more before it is a wait."""

REACHED = SyncRequest(trigger=Trigger.HEALTH_REACHED, uid="uid-1", id="2026-01-02T00:00:00Z")
LONG = 600.0


@pytest.fixture
def gated(script: Script) -> Script:
    """Three waves; the last one waits until the one before it is healthy."""
    script.plan = replace(
        script.plan,
        waves=(WavePlan(0, 1), WavePlan(1, 1), WavePlan(5, 1, gate=True, timeout=LONG)),
        trigger=Trigger.SYNC_REQUESTED,
        started_at="2026-01-01T00:00:01Z",
        prune=True,
        changed_render=True,
    )
    return script


@pytest.fixture
async def waiting(driver: Driver, gated: Script) -> Settled:
    """A sync that waits at the gate."""
    gated.answer(Activity.CHECK_HEALTH, *CLOSED)
    return await driver.sync_now()


def reads(script: Script, trigger: Trigger, **changes: object) -> None:
    """Let the next `resolve` find the same render, with another trigger."""
    plan = replace(script.plan, trigger=trigger, started_at="2026-01-01T09:09:09Z", **changes)  # type: ignore[arg-type]
    script.answer(Activity.RESOLVE, Resolved(Decision.APPLY, plan))


async def test_a_gate_is_open_where_the_wave_before_is_healthy(driver: Driver, gated: Script) -> None:
    settled = await result(await driver.sync())
    assert settled.reason == "Applied"
    assert [check.index for check in gated.args(Activity.CHECK_HEALTH)] == [1]
    assert [wave.index for wave in gated.args(Activity.APPLY_WAVE)] == [0, 1, 2]


async def test_the_sync_answers_with_the_wait_and_stays_open(driver: Driver, waiting: Settled) -> None:
    assert (waiting.status, waiting.reason) == ("False", "WaitingForWave")
    assert waiting.message.startswith("wave 5 waits until 20")
    assert waiting.message.endswith(
        "Z for wave 1 to be healthy: Deployment.apps shop/mill: 0 of 1 replicas are ready"
    )
    assert await status(driver.open_sync()) is WorkflowExecutionStatus.RUNNING


async def test_nothing_after_the_gate_runs_while_it_waits(gated: Script, waiting: Settled) -> None:
    assert [wave.index for wave in gated.args(Activity.APPLY_WAVE)] == [0, 1]
    assert Activity.PRUNE not in gated.steps()
    assert Activity.WRITE_INVENTORY not in gated.steps()


async def test_status_tells_which_wave_is_waited_for(gated: Script, waiting: Settled) -> None:
    recorded = await gated.called(Activity.RECORD)
    assert recorded.health == WaveHealth(1, "WaitingForHealth")
    assert (recorded.attempted, recorded.outcome.applied, recorded.planned_at) == (True, False, "")


async def test_the_run_tells_what_it_waits_for_and_until_when(driver: Driver, waiting: Settled) -> None:
    view = await state(driver.open_sync())
    assert (view["phase"], view["reason"], view["waves_done"]) == ("Waiting", "WaitingForWave", 2)
    assert view["deadline"] in view["message"]
    described = await driver.open_sync().describe()
    assert described.search_attributes["ConvoyPhase"] == ["WaitingForWave"]


async def test_when_the_wave_is_healthy_the_pass_goes_on_where_it_stood(
    driver: Driver, gated: Script, waiting: Settled
) -> None:
    reads(gated, Trigger.HEALTH_REACHED, requested_at="2026-01-02T00:00:00Z")
    run = driver.open_sync()
    await driver.sync(REACHED)
    settled = await result(run)
    assert (settled.reason, settled.requested_at) == ("Applied", "2026-01-02T00:00:00Z")
    assert [wave.index for wave in gated.args(Activity.APPLY_WAVE)] == [0, 1, 2]
    assert [gated.steps().count(step) for step in (Activity.CLAIM, Activity.DRY_RUN, Activity.PRUNE)] == [
        1,
        1,
        1,
    ]


async def test_the_attempt_that_goes_on_is_the_one_that_began(
    driver: Driver, gated: Script, waiting: Settled
) -> None:
    reads(gated, Trigger.HEALTH_REACHED)
    run = driver.open_sync()
    await driver.sync(REACHED)
    await result(run)
    plan = gated.args(Activity.RECORD)[-1].plan
    assert (plan.trigger, plan.started_at) == (Trigger.SYNC_REQUESTED, "2026-01-01T00:00:01Z")


async def test_a_wave_that_is_still_not_healthy_keeps_the_deadline(
    driver: Driver, gated: Script, waiting: Settled
) -> None:
    reads(gated, Trigger.HEALTH_CHANGED)
    gated.answer(Activity.CHECK_HEALTH, SICK)
    run = driver.open_sync()
    await driver.sync(SyncRequest(trigger=Trigger.HEALTH_CHANGED, uid="uid-1", id="other health"))
    await gated.called(Activity.RECORD, 2)
    view = await until(run, lambda view: view["phase"] == "Waiting")
    assert view["message"] == waiting.message


async def test_a_tick_applies_the_finished_waves_again_and_keeps_the_deadline(
    driver: Driver, gated: Script, waiting: Settled
) -> None:
    reads(gated, Trigger.PERIODIC)
    gated.answer(Activity.CHECK_HEALTH, SICK)
    await driver.sync(SyncRequest(trigger=Trigger.PERIODIC, uid="uid-1"))
    recorded = await gated.called(Activity.RECORD, 2)
    assert [wave.index for wave in gated.args(Activity.APPLY_WAVE)] == [0, 1, 0, 1]
    assert recorded.outcome.message == waiting.message
    assert recorded.plan.trigger is Trigger.SYNC_REQUESTED


async def test_a_request_of_a_person_is_answered_with_the_wait_again(
    driver: Driver, gated: Script, waiting: Settled
) -> None:
    gated.answer(Activity.CHECK_HEALTH, SICK)
    assert (await driver.sync_now()).message == waiting.message


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
    reads(gated, trigger, force_requested_at=force)
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
    reads(gated, Trigger.RETRY)
    gated.answer(Activity.CHECK_HEALTH, SICK)
    await driver.sync(SyncRequest(trigger=Trigger.RETRY, uid="uid-1"))
    assert (await gated.called(Activity.RECORD, 3)).outcome.message == waiting.message


async def test_a_wave_that_fails_when_it_is_applied_again_ends_the_wait(
    driver: Driver, gated: Script, waiting: Settled
) -> None:
    reads(gated, Trigger.PERIODIC)
    gated.answer(Activity.APPLY_WAVE, failure("DeployFailed", "no"))
    run = driver.open_sync()
    await driver.sync(SyncRequest(trigger=Trigger.PERIODIC, uid="uid-1"))
    assert (await failed(run)).message == "no"


async def test_health_that_is_reached_while_the_wait_begins_is_not_missed(
    driver: Driver, gated: Script
) -> None:
    gated.answer(Activity.CHECK_HEALTH, *CLOSED)
    gate = gated.hold(Activity.RECORD)
    run = await driver.sync()
    await gate.reached()
    reads(gated, Trigger.HEALTH_REACHED)
    await driver.sync(REACHED)
    gate.open()
    assert (await result(run)).reason == "Applied"


async def test_a_gate_that_could_not_be_recorded_does_not_keep_the_run_open(
    driver: Driver, gated: Script
) -> None:
    gated.answer(Activity.CHECK_HEALTH, *CLOSED)
    gated.answer(Activity.RECORD, failure("DeployFailed", "forbidden"))
    assert (await failed(await driver.sync())).type == "DeployFailed"


# --- the deadline --------------------------------------------------------------------------------


@pytest.fixture
def short(gated: Script) -> Script:
    """The gate waits for a second."""
    gated.plan = replace(
        gated.plan, waves=(WavePlan(0, 1), WavePlan(1, 1), WavePlan(5, 1, gate=True, timeout=1.0))
    )
    return gated


async def test_at_the_deadline_health_is_looked_at_once_more_and_then_the_sync_fails(
    driver: Driver, short: Script
) -> None:
    short.answer(Activity.CHECK_HEALTH, *CLOSED, SICK)
    reads(short, Trigger.SPEC_CHANGED)
    reads(short, Trigger.TIMED_OUT)
    error = await failed(await driver.sync())
    assert error.type == "DeployFailed"
    assert error.message == (
        "wave 5 is not applied, since wave 1 is not healthy after 1s: "
        "Deployment.apps shop/mill: 0 of 1 replicas are ready"
    )
    assert [one.trigger for one in short.args(Activity.RESOLVE)[1].requests] == [Trigger.TIMED_OUT]
    assert short.args(Activity.RECORD)[-1].health == WaveHealth(1, "Failed")
    assert [wave.index for wave in short.args(Activity.APPLY_WAVE)] == [0, 1]


async def test_a_wave_that_is_healthy_at_the_last_look_opens_the_gate(driver: Driver, short: Script) -> None:
    short.answer(Activity.CHECK_HEALTH, *CLOSED)
    reads(short, Trigger.SPEC_CHANGED)
    reads(short, Trigger.TIMED_OUT)
    assert (await result(await driver.sync())).reason == "Applied"


async def test_a_source_that_is_unreachable_at_the_deadline_ends_the_wait(
    driver: Driver, short: Script
) -> None:
    short.answer(Activity.CHECK_HEALTH, *CLOSED)
    reads(short, Trigger.SPEC_CHANGED)
    short.answer(Activity.RESOLVE, Resolved(Decision.STOP, Plan(uid="uid-1"), "SourceNotReady", "no route"))
    assert (await failed(await driver.sync())).type == "SourceNotReady"


# --- what a gate holds ---------------------------------------------------------------------------


async def test_a_pass_that_changes_nothing_asks_for_nobodys_health(driver: Driver, gated: Script) -> None:
    gated.plan = replace(gated.plan, changed_render=False)
    gated.answer(Activity.APPLY_WAVE, *[WaveResult(applied=1, changed=0)] * 3)
    assert (await result(await driver.sync())).reason == "Applied"
    assert Activity.CHECK_HEALTH not in gated.steps()


@pytest.mark.parametrize(("changed", "force"), [(1, ""), (0, "2026-01-01T00:00:00Z")])
async def test_a_healed_object_and_a_force_make_the_gate_hold(
    driver: Driver, gated: Script, changed: int, force: str
) -> None:
    gated.plan = replace(gated.plan, changed_render=False, force_requested_at=force)
    gated.answer(Activity.APPLY_WAVE, *[WaveResult(applied=1, changed=changed)] * 2)
    gated.answer(Activity.CHECK_HEALTH, *CLOSED)
    assert (await driver.sync_now()).reason == "WaitingForWave"


async def test_a_forced_attempt_that_goes_on_is_still_a_forced_one(driver: Driver, gated: Script) -> None:
    forced = replace(gated.plan, changed_render=False, force_requested_at="2026-01-01T00:00:00Z")
    gated.answer(Activity.RESOLVE, Resolved(Decision.APPLY, forced))
    gated.answer(Activity.APPLY_WAVE, *[WaveResult(applied=1, changed=0)] * 2)
    gated.answer(Activity.CHECK_HEALTH, *CLOSED)
    await driver.sync_now()
    reads(gated, Trigger.HEALTH_REACHED, changed_render=False)
    run = driver.open_sync()
    await driver.sync(REACHED)
    await result(run)
    assert gated.args(Activity.PRUNE)[0].forced


async def test_a_gate_that_has_opened_stays_open_when_a_later_one_waits(
    driver: Driver, gated: Script
) -> None:
    waves = tuple(WavePlan(wave, 1, gate=wave > 0, timeout=LONG) for wave in range(3))
    gated.plan = replace(gated.plan, waves=waves)
    gated.answer(Activity.CHECK_HEALTH, HealthAnswer(healthy=True), *CLOSED, SICK)
    await driver.sync_now()
    reads(gated, Trigger.PERIODIC)
    await driver.sync(SyncRequest(trigger=Trigger.PERIODIC, uid="uid-1"))
    await gated.called(Activity.RECORD, 2)
    assert [check.index for check in gated.args(Activity.CHECK_HEALTH)] == [0, 1, 1, 1]


# --- a moment ------------------------------------------------------------------------------------


async def test_a_wave_that_is_healthy_within_seconds_makes_nobody_wait(
    driver: Driver, gated: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gates, "GRACE", 1.0)
    gated.answer(Activity.CHECK_HEALTH, SICK)
    settled = await driver.sync_now()
    assert settled.reason == "Applied"
    assert gated.steps().count(Activity.RECORD) == 1


async def test_news_of_its_health_ends_the_moment(
    driver: Driver, gated: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gates, "GRACE", LONG)
    gated.answer(Activity.CHECK_HEALTH, SICK)
    run = await driver.sync()
    await gated.called(Activity.CHECK_HEALTH)
    await driver.sync(REACHED)
    assert (await result(run)).reason == "Applied"
    assert [wave.index for wave in gated.args(Activity.APPLY_WAVE)][:3] == [0, 1, 2]


async def test_a_moment_is_no_longer_than_the_timeout_of_the_gate(
    driver: Driver, short: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gates, "GRACE", LONG)
    short.answer(Activity.CHECK_HEALTH, *CLOSED)
    assert (await failed(await driver.sync())).type == "DeployFailed"


# --- prune.afterHealthy --------------------------------------------------------------------------


@pytest.fixture
def careful(script: Script) -> Script:
    """The prune waits for the health of the whole render."""
    script.plan = replace(script.plan, prune=True, prune_after_healthy=True, changed_render=True)
    return script


async def test_the_prune_waits_without_a_deadline_for_the_render_to_be_healthy(
    driver: Driver, careful: Script
) -> None:
    careful.answer(Activity.CHECK_HEALTH, *CLOSED)
    settled = await driver.sync_now()
    assert settled.reason == "WaitingForHealth"
    assert settled.message == (
        "the prune waits for the render to be healthy: Deployment.apps shop/mill: 0 of 1 replicas are ready"
    )
    assert [check.index for check in careful.args(Activity.CHECK_HEALTH)] == [-1, -1]
    assert Activity.PRUNE not in careful.steps()
    assert (await state(driver.open_sync()))["deadline"] == ""
    assert careful.args(Activity.RECORD)[0].health == WaveHealth(1, "WaitingForHealth")


async def test_when_the_render_is_healthy_the_prune_follows_and_no_wave_is_applied_again(
    driver: Driver, careful: Script
) -> None:
    careful.answer(Activity.CHECK_HEALTH, *CLOSED)
    await driver.sync_now()
    reads(careful, Trigger.HEALTH_REACHED)
    run = driver.open_sync()
    await driver.sync(REACHED)
    assert (await result(run)).reason == "Applied"
    assert [wave.index for wave in careful.args(Activity.APPLY_WAVE)] == [0, 1]
    assert careful.steps()[-3:] == [Activity.PRUNE, Activity.WRITE_INVENTORY, Activity.RECORD]
    assert careful.args(Activity.RECORD)[-1].health == WaveHealth(1, "Healthy")


async def test_without_a_prune_nobody_waits_for_health(driver: Driver, careful: Script) -> None:
    careful.plan = replace(careful.plan, prune=False)
    await result(await driver.sync())
    assert Activity.CHECK_HEALTH not in careful.steps()


async def test_a_tick_makes_the_prune_wait_again(driver: Driver, careful: Script) -> None:
    careful.answer(Activity.CHECK_HEALTH, *CLOSED, SICK)
    await driver.sync_now()
    gate: Gate = careful.hold(Activity.RECORD)
    reads(careful, Trigger.PERIODIC)
    await driver.sync(SyncRequest(trigger=Trigger.PERIODIC, uid="uid-1"))
    await gate.reached()
    gate.open()
    assert careful.args(Activity.RECORD)[-1].outcome.reason == "WaitingForHealth"
    assert [wave.index for wave in careful.args(Activity.APPLY_WAVE)] == [0, 1, 0, 1]
