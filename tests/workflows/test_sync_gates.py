"""Waves with strategy Health: the sync waits durably for the wave before, and goes on where it stood (D25)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from temporalio.client import WorkflowExecutionStatus

from convoy.policy.trigger import Trigger
from tests.workflows.doubles import Script
from tests.workflows.driver import Driver, result, state, status, until
from tests.workflows.gating import CLOSED, LONG, REACHED, SICK
from workflows import gates
from workflows.contract import (
    Activity,
    Decision,
    HealthAnswer,
    Resolved,
    Settled,
    SyncRequest,
    WaveHealth,
    WavePlan,
    WaveResult,
)


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


async def test_the_event_of_a_wait_names_no_time_so_that_another_wait_counts_it(
    gated: Script, waiting: Settled
) -> None:
    recorded = await gated.called(Activity.RECORD)
    assert recorded.outcome.note == f"wave 5 waits for wave 1 to be healthy: {SICK.message}"


async def test_nothing_after_the_gate_runs_while_it_waits(gated: Script, waiting: Settled) -> None:
    assert [wave.index for wave in gated.args(Activity.APPLY_WAVE)] == [0, 1]
    assert Activity.PRUNE not in gated.steps()
    assert Activity.WRITE_INVENTORY not in gated.steps()


async def test_status_tells_which_wave_is_waited_for(gated: Script, waiting: Settled) -> None:
    recorded = await gated.called(Activity.RECORD)
    assert recorded.health == WaveHealth(1, "WaitingForHealth")
    assert (recorded.attempted, recorded.outcome.applied) == (True, False)


async def test_the_run_tells_what_it_waits_for_and_until_when(driver: Driver, waiting: Settled) -> None:
    view = await state(driver.open_sync())
    assert (view["phase"], view["reason"], view["waves_done"]) == ("Waiting", "WaitingForWave", 2)
    assert view["deadline"] in view["message"]
    described = await driver.open_sync().describe()
    assert described.search_attributes["ConvoyPhase"] == ["WaitingForWave"]


async def test_the_web_ui_tells_what_the_run_waits_for_and_until_when(
    driver: Driver, waiting: Settled
) -> None:
    metadata = await driver.open_sync().query("__temporal_workflow_metadata")
    details = metadata.current_details
    deadline = (await state(driver.open_sync()))["deadline"]
    assert details.startswith(f"**Waiting** – WaitingForWave: {waiting.message}")
    assert f"waits until {deadline} at most" in details


async def test_when_the_wave_is_healthy_the_pass_goes_on_where_it_stood(
    driver: Driver, gated: Script, waiting: Settled
) -> None:
    gated.reads(Trigger.HEALTH_REACHED, requested_at="2026-01-02T00:00:00Z")
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
    gated.reads(Trigger.HEALTH_REACHED)
    run = driver.open_sync()
    await driver.sync(REACHED)
    await result(run)
    plan = gated.args(Activity.RECORD)[-1].plan
    assert (plan.trigger, plan.started_at) == (Trigger.SYNC_REQUESTED, "2026-01-01T00:00:01Z")


async def test_a_wave_that_is_still_not_healthy_keeps_the_deadline(
    driver: Driver, gated: Script, waiting: Settled
) -> None:
    gated.reads(Trigger.HEALTH_CHANGED)
    gated.answer(Activity.CHECK_HEALTH, SICK)
    run = driver.open_sync()
    await driver.sync(SyncRequest(trigger=Trigger.HEALTH_CHANGED, uid="uid-1", id="other health"))
    await gated.called(Activity.RECORD, 2)
    view = await until(run, lambda view: view["phase"] == "Waiting")
    assert view["message"] == waiting.message


async def test_a_tick_applies_the_finished_waves_again_and_keeps_the_deadline(
    driver: Driver, gated: Script, waiting: Settled
) -> None:
    gated.reads(Trigger.PERIODIC)
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


async def test_a_pass_behind_an_attempt_that_did_not_come_to_its_end_makes_the_gate_hold(
    driver: Driver, gated: Script
) -> None:
    gated.plan = replace(gated.plan, changed_render=False, unfinished=True)
    gated.answer(Activity.APPLY_WAVE, *[WaveResult(applied=1, changed=0)] * 2)
    gated.answer(Activity.CHECK_HEALTH, *CLOSED)
    assert (await driver.sync_now()).reason == "WaitingForWave"


async def test_a_wave_whose_first_worker_left_uncounted_changes_makes_the_gate_hold(
    driver: Driver, gated: Script
) -> None:
    gated.plan = replace(gated.plan, changed_render=False)
    gated.answer(
        Activity.APPLY_WAVE,
        WaveResult(applied=1, changed=0, uncounted=True),
        WaveResult(applied=1, changed=0),
    )
    gated.answer(Activity.CHECK_HEALTH, *CLOSED)
    assert (await driver.sync_now()).reason == "WaitingForWave"


async def test_what_is_in_doubt_stays_so_when_the_finished_waves_are_applied_again(
    driver: Driver, gated: Script
) -> None:
    gated.plan = replace(gated.plan, changed_render=False)
    same = WaveResult(applied=1, changed=0)
    gated.answer(Activity.APPLY_WAVE, replace(same, uncounted=True), same, same, same)
    gated.answer(Activity.CHECK_HEALTH, *CLOSED, SICK)
    waiting = await driver.sync_now()
    gated.reads(Trigger.PERIODIC)
    await driver.sync(SyncRequest(trigger=Trigger.PERIODIC, uid="uid-1"))
    assert (await gated.called(Activity.RECORD, 2)).outcome.message == waiting.message


async def test_a_forced_attempt_that_goes_on_is_still_a_forced_one(driver: Driver, gated: Script) -> None:
    forced = replace(gated.plan, changed_render=False, force_requested_at="2026-01-01T00:00:00Z")
    gated.answer(Activity.RESOLVE, Resolved(Decision.APPLY, forced))
    gated.answer(Activity.APPLY_WAVE, *[WaveResult(applied=1, changed=0)] * 2)
    gated.answer(Activity.CHECK_HEALTH, *CLOSED)
    await driver.sync_now()
    gated.reads(Trigger.HEALTH_REACHED, changed_render=False)
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
    gated.reads(Trigger.PERIODIC)
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
