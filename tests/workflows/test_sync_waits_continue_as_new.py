"""Continue-as-new while a sync waits at a gate, for a hook or for an approval: nothing of the wait is lost."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from temporalio.client import WorkflowExecutionStatus

from convoy.policy.trigger import Trigger
from tests.workflows.doubles import SAFETY, Script
from tests.workflows.driver import Driver, failed, result, state, status
from workflows import history
from workflows.contract import (
    Activity,
    Approved,
    Decision,
    HealthAnswer,
    HookRun,
    HooksAnswer,
    Resolved,
    Settled,
    SyncRequest,
    WavePlan,
)
from workflows.state import Point, Resume, SyncState, Wait

SICK = HealthAnswer(healthy=False, message="0 of 1 replicas are ready")
WAITS = Settled(status="False", reason="WaitingForWave", message="wave 1 waits")


@pytest.fixture
def gated(script: Script) -> Script:
    script.plan = replace(
        script.plan,
        waves=(WavePlan(0, 1), WavePlan(1, 1, gate=True, timeout=600)),
        changed_render=True,
        trigger=Trigger.HEALTH_REACHED,
    )
    return script


@pytest.fixture
def at_the_gate(gated: Script) -> Callable[[float], SyncState]:
    """The state of a run that waits at the gate until a time."""

    def build(deadline: float) -> SyncState:
        at = Resume(gated.plan, next_wave=1, seen="seen", changed=1, gate=1, deadline=deadline)
        return SyncState(wait=Wait(at, deadline), result=WAITS)

    return build


async def test_a_run_that_begins_in_a_wait_tells_it(
    driver: Driver, at_the_gate: Callable[[float], SyncState]
) -> None:
    run = await driver.start_sync(at_the_gate(time.time() + 600))
    view = await state(run)
    assert (view["phase"], view["reason"], view["waves_done"]) == ("Waiting", "WaitingForWave", 1)
    assert view["plan"]["render_ref"] == "r1"


async def test_it_goes_on_where_the_wait_began(
    driver: Driver, gated: Script, at_the_gate: Callable[[float], SyncState]
) -> None:
    run = await driver.start_sync(at_the_gate(time.time() + 600))
    await driver.sync(SyncRequest(trigger=Trigger.HEALTH_REACHED, uid="uid-1"))
    assert (await result(run)).reason == "Applied"
    assert [wave.index for wave in gated.args(Activity.APPLY_WAVE)] == [1]


async def test_the_deadline_is_absolute(
    driver: Driver, gated: Script, at_the_gate: Callable[[float], SyncState]
) -> None:
    gated.answer(Activity.CHECK_HEALTH, SICK)
    run = await driver.start_sync(at_the_gate(time.time() - 3600))
    assert (await failed(run)).type == "DeployFailed"


async def test_a_flood_of_other_peoples_wakes_makes_a_waiting_run_continue_as_new(
    driver: Driver,
    gated: Script,
    at_the_gate: Callable[[float], SyncState],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(history, "EVENTS", 40)
    deadline = time.time() + 600
    started = await driver.start_sync(at_the_gate(deadline))
    first = driver.client.get_workflow_handle(driver.release.sync, run_id=started.first_execution_run_id)
    before = await state(first)
    async with asyncio.timeout(SAFETY):
        while await status(first) is WorkflowExecutionStatus.RUNNING:
            await driver.wake("uid-of-another")
    assert await status(first) is WorkflowExecutionStatus.CONTINUED_AS_NEW
    assert await state(driver.open_sync()) == before
    await driver.sync(SyncRequest(trigger=Trigger.HEALTH_REACHED, uid="uid-1"))
    assert (await result(driver.open_sync())).reason == "Applied"


async def test_passes_during_a_long_wait_continue_as_new_and_keep_the_deadline(
    driver: Driver, gated: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "EVENTS", 60)
    gated.answer(Activity.CHECK_HEALTH, *[SICK] * 5)
    first = await driver.sync_now()
    for passes in (2, 3, 4):
        await driver.sync(SyncRequest(trigger=Trigger.HEALTH_CHANGED, uid="uid-1"))
        await gated.called(Activity.RECORD, passes)
    assert {done.outcome.message for done in gated.args(Activity.RECORD)} == {first.message}
    await driver.sync(SyncRequest(trigger=Trigger.HEALTH_REACHED, uid="uid-1"))
    async with asyncio.timeout(SAFETY):
        while await status(driver.open_sync()) is WorkflowExecutionStatus.RUNNING:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    assert [wave.index for wave in gated.args(Activity.APPLY_WAVE)] == [0, 1]


async def test_approvals_that_are_not_written_down_yet_are_carried_over(
    driver: Driver, script: Script
) -> None:
    script.plan = replace(script.plan, pre_sync=(HookRun("go", 1),), trigger=Trigger.APPROVED)
    at = Resume(script.plan, point=Point.PRE_SYNC, seen="seen")
    approved = Approved("go", by="ada", at="2026-01-01T00:00:00Z")
    waits = SyncState(wait=Wait(at, awaits=("go",)), approvals=[approved], approved_ref="r1")
    run = await driver.start_sync(waits)
    assert (await state(run))["awaits"] == []
    await driver.sync(SyncRequest(trigger=Trigger.APPROVED, uid="uid-1"))
    assert (await result(run)).reason == "Applied"
    assert script.args(Activity.RUN_HOOKS)[0].approvals == (approved,)


async def test_running_post_sync_hooks_are_carried_over(driver: Driver, script: Script) -> None:
    plan = replace(script.plan, post_sync=(HookRun("smoke", 1),), trigger=Trigger.HEALTH_REACHED)
    script.answer(Activity.RESOLVE, Resolved(Decision.APPLY, plan))
    at = Resume(plan, next_wave=2, point=Point.POST_SYNC)
    applied = Settled(status="True", reason="Applied", message="applied")
    run = await driver.start_sync(SyncState(wait=Wait(at), result=applied))
    assert (await state(run))["phase"] == "PostSync"
    await driver.sync(SyncRequest(trigger=Trigger.HEALTH_REACHED, uid="uid-1"))
    assert (await result(run)).reason == "Applied"
    assert script.steps() == [Activity.RESOLVE, Activity.RUN_HOOKS, Activity.RECORD]


async def test_a_state_of_before_there_were_waits_is_still_read(driver: Driver, script: Script) -> None:
    old = {"inbox": [], "seen": [], "result": {}, "lost": 0, "waiting": ""}
    resume = {"plan": {"uid": "uid-1", "waves": [{"wave": 0, "objects": 1}]}, "next_wave": 0, "seen": ""}
    run = await driver.client.start_workflow(
        "Sync",
        {**old, "resume": {**resume, "changed": 0}},
        id=driver.release.sync,
        task_queue=driver.queue,
        result_type=Settled,
    )
    assert (await result(run)).reason == "Applied"
    assert script.steps()[0] == Activity.APPLY_WAVE


async def test_a_hook_is_looked_at_when_it_is_overdue_also_after_the_continuation(
    driver: Driver, script: Script
) -> None:
    plan = replace(script.plan, pre_sync=(HookRun("migrate", 1),), trigger=Trigger.TIMED_OUT)
    script.answer(Activity.RESOLVE, Resolved(Decision.APPLY, plan))
    script.answer(Activity.RUN_HOOKS, HooksAnswer(done=True))
    at = Resume(plan, point=Point.PRE_SYNC, seen="seen")
    run = await driver.start_sync(SyncState(wait=Wait(at, time.time() + 1)))
    assert (await result(run)).reason == "Applied"
