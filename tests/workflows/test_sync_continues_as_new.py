"""Continue-as-new in the middle of a sync: it goes on at the next wave, and nothing that came in is lost."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from temporalio.client import WorkflowExecutionStatus

from convoy.policy.trigger import Trigger
from tests.workflows.doubles import Script, failure, render_missing
from tests.workflows.driver import Driver, failed, result, status
from workflows import history
from workflows.contract import Activity, SyncRequest, WavePlan
from workflows.state import Resume, SyncState

WAVES = 12


@pytest.fixture(autouse=True)
def short_runs(monkeypatch: pytest.MonkeyPatch, script: Script) -> None:
    """A run is long after some three waves."""
    monkeypatch.setattr(history, "EVENTS", 40)
    script.plan = replace(script.plan, waves=tuple(WavePlan(wave, 1) for wave in range(WAVES)), prune=True)


async def test_every_wave_is_applied_once_and_the_steps_before_and_after_too(
    driver: Driver, script: Script
) -> None:
    run = await driver.sync()
    first = run.first_execution_run_id or (await run.describe()).run_id
    settled = await result(run)
    assert (settled.reason, settled.message) == ("Applied", "applied 12 objects of main@1, pruned 1")
    assert [wave.index for wave in script.args(Activity.APPLY_WAVE)] == list(range(WAVES))
    assert {wave.seen for wave in script.args(Activity.APPLY_WAVE)} == {"seen"}
    once = (Activity.RESOLVE, Activity.CLAIM, Activity.DRY_RUN, Activity.PRUNE, Activity.RECORD)
    assert [script.steps().count(step) for step in once] == [1] * len(once)
    continued = driver.client.get_workflow_handle(driver.release.sync, run_id=first)
    assert await status(continued) is WorkflowExecutionStatus.CONTINUED_AS_NEW


async def test_a_request_before_the_continuation_gets_a_pass_of_its_own(
    driver: Driver, script: Script
) -> None:
    gate = script.hold(Activity.APPLY_WAVE)
    run = await driver.sync()
    await gate.reached()
    await driver.sync(SyncRequest(trigger=Trigger.RETRY, uid="uid-1"))
    gate.open()
    await result(run)
    asked = [call.requests[0].trigger for call in script.args(Activity.RESOLVE)]
    assert asked == [Trigger.SPEC_CHANGED, Trigger.RETRY]
    assert [wave.index for wave in script.args(Activity.APPLY_WAVE)] == [*range(WAVES), *range(WAVES)]


async def test_signals_during_all_of_it_are_not_lost(driver: Driver, script: Script) -> None:
    run = await driver.sync()
    sent = [f"request-{number}" for number in range(30)]
    for name in sent:
        await driver.sync(SyncRequest(trigger=Trigger.SYNC_REQUESTED, uid=name, id=name))
        await asyncio.sleep(0.02)
    await result(run)
    await result(driver.open_sync())
    asked = {one.id for call in script.args(Activity.RESOLVE) for one in call.requests}
    assert asked >= set(sent)


async def test_an_update_is_answered_though_the_run_has_become_long(driver: Driver, script: Script) -> None:
    assert (await driver.sync_now()).reason == "Applied"
    assert [wave.index for wave in script.args(Activity.APPLY_WAVE)] == list(range(WAVES))


async def test_an_update_to_a_resumed_run_is_not_answered_by_the_pass_that_began_before(
    driver: Driver, script: Script
) -> None:
    resume = Resume(plan=script.plan, next_wave=WAVES - 1, seen="", changed=0)
    gate = script.hold(Activity.APPLY_WAVE)
    script.answer(Activity.APPLY_WAVE, failure("DeployFailed"))
    run = await driver.start_sync(SyncState(resume=resume))
    await gate.reached()
    asked = await driver.ask()
    gate.open()
    assert (await result(asked)).reason == "Applied"
    await result(run)


async def test_a_resumed_wave_that_fails_fails_the_run(driver: Driver, script: Script) -> None:
    resume = Resume(plan=script.plan, next_wave=5, seen="", changed=0)
    script.answer(Activity.APPLY_WAVE, failure("DeployFailed", "no"))
    error = await failed(await driver.start_sync(SyncState(resume=resume)))
    assert error.message == "no"
    assert (await script.called(Activity.RECORD)).attempted


async def test_a_resumed_sync_whose_render_is_gone_starts_again_from_resolve(
    driver: Driver, script: Script
) -> None:
    resume = Resume(plan=script.plan, next_wave=WAVES - 1, seen="", changed=0)
    script.answer(Activity.APPLY_WAVE, render_missing())
    await result(await driver.start_sync(SyncState(resume=resume)))
    assert script.args(Activity.RESOLVE)[0].requests[0].trigger is Trigger.RESTARTED
    assert len(script.args(Activity.APPLY_WAVE)) == 1 + WAVES


async def test_a_render_that_is_lost_over_and_over_ends_the_pass_across_runs(
    driver: Driver, script: Script
) -> None:
    script.answer(Activity.PRUNE, *[render_missing()] * 3)
    await driver.sync()
    await script.called(Activity.RECORD)
    assert (await failed(driver.open_sync())).type == "DeployFailed"
    assert script.steps().count(Activity.RESOLVE) == 3
