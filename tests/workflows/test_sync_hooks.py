"""Lifecycle hooks in a sync: those before it stop it, those after it run on behind its result (D27)."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

import pytest
from temporalio.client import WorkflowExecutionStatus

from convoy.api.hooks import HookStage
from convoy.policy.trigger import Trigger
from tests.workflows.doubles import SAFETY, Script, failure
from tests.workflows.driver import Driver, failed, result, state, status, until
from workflows.contract import (
    Activity,
    Decision,
    HookRun,
    HooksAnswer,
    Plan,
    Resolved,
    SyncRequest,
)

REACHED = SyncRequest(trigger=Trigger.HEALTH_REACHED, uid="uid-1", id="2026-01-02T00:00:00Z")
PERIODIC = SyncRequest(trigger=Trigger.PERIODIC, uid="uid-1")
RETRY = SyncRequest(trigger=Trigger.RETRY, uid="uid-1")
RUNS = HooksAnswer(done=False, reason="WaitingForHook", message="hook migrate runs as Job default/migrate-1")
SMOKE = HooksAnswer(done=False, reason="WaitingForHook", message="hook smoke runs as Job default/smoke-1")


@pytest.fixture
def before(script: Script) -> Script:
    """A hook before the first wave."""
    script.plan = replace(script.plan, pre_sync=(HookRun("migrate", 3),), changed_render=True)
    return script


@pytest.fixture
def after(script: Script) -> Script:
    """A hook after the prune."""
    script.plan = replace(script.plan, post_sync=(HookRun("smoke", 1),), prune=True, changed_render=True)
    return script


async def test_pre_sync_hooks_run_between_the_store_and_the_first_wave(
    driver: Driver, before: Script
) -> None:
    before.plan = replace(before.plan, store=True)
    await result(await driver.sync())
    steps = before.steps()
    place = steps.index(Activity.RUN_HOOKS)
    assert (steps[place - 1], steps[place + 1]) == (Activity.STORE_RENDER, Activity.APPLY_WAVE)
    assert [hooks.stage for hooks in before.args(Activity.RUN_HOOKS)] == [HookStage.PRE_SYNC]


async def test_without_hooks_nobody_is_asked_for_them(driver: Driver, script: Script) -> None:
    await result(await driver.sync())
    assert Activity.RUN_HOOKS not in script.steps()


async def test_a_hook_that_runs_makes_the_sync_wait_before_anything_is_applied(
    driver: Driver, before: Script
) -> None:
    before.answer(Activity.RUN_HOOKS, RUNS)
    settled = await driver.sync_now()
    assert (settled.status, settled.reason, settled.message) == ("False", "WaitingForHook", RUNS.message)
    assert Activity.APPLY_WAVE not in before.steps()
    assert await status(driver.open_sync()) is WorkflowExecutionStatus.RUNNING


async def test_a_hook_that_fails_after_a_wait_fails_the_run(driver: Driver, before: Script) -> None:
    before.answer(Activity.RUN_HOOKS, RUNS, failure("HookFailed", "hook migrate failed"))
    await driver.sync_now()
    before.reads(Trigger.HEALTH_REACHED)
    run = driver.open_sync()
    await driver.sync(REACHED)
    error = await failed(run)
    assert (error.type, error.message) == ("HookFailed", "hook migrate failed")


async def test_a_suspension_ends_the_wait_for_a_hook(driver: Driver, before: Script) -> None:
    before.answer(Activity.RUN_HOOKS, RUNS)
    await driver.sync_now()
    before.answer(Activity.RESOLVE, Resolved(Decision.STOP, before.plan, "Suspended", "spec.suspend is true"))
    run = driver.open_sync()
    await driver.sync(SyncRequest(trigger=Trigger.SPEC_CHANGED, uid="uid-1", id="suspended"))
    assert (await result(run)).reason == "Suspended"


async def test_when_the_hook_is_done_the_waves_follow_without_another_dry_run(
    driver: Driver, before: Script
) -> None:
    before.answer(Activity.RUN_HOOKS, RUNS)
    await driver.sync_now()
    before.reads(Trigger.HEALTH_REACHED, pre_sync=())
    run = driver.open_sync()
    await driver.sync(REACHED)
    assert (await result(run)).reason == "Applied"
    assert before.steps().count(Activity.DRY_RUN) == 1
    assert {wave.seen for wave in before.args(Activity.APPLY_WAVE)} == {"seen"}


async def test_a_failed_hook_stops_the_sync(driver: Driver, before: Script) -> None:
    before.answer(Activity.RUN_HOOKS, failure("HookFailed", "hook migrate failed: exit code 1"))
    error = await failed(await driver.sync())
    assert (error.type, error.message) == ("HookFailed", "hook migrate failed: exit code 1")
    assert Activity.APPLY_WAVE not in before.steps()


async def test_hooks_are_looked_at_again_when_one_is_overdue(driver: Driver, before: Script) -> None:
    overdue = replace(RUNS, deadline=time.time() + 1)
    before.answer(Activity.RUN_HOOKS, overdue, failure("HookFailed", "hook migrate did not end within 1s"))
    before.reads(Trigger.SPEC_CHANGED)
    before.reads(Trigger.TIMED_OUT)
    assert (await failed(await driver.sync())).type == "HookFailed"
    assert [one.trigger for one in before.args(Activity.RESOLVE)[1].requests] == [Trigger.TIMED_OUT]


NO_SOURCE = Resolved(Decision.STOP, Plan(uid="uid-1"), "SourceNotReady", "no route")


async def test_a_source_that_is_unreachable_at_a_look_does_not_end_the_wait_for_a_hook(
    driver: Driver, before: Script
) -> None:
    before.answer(Activity.RUN_HOOKS, replace(RUNS, deadline=time.time() + 1), RUNS)
    before.reads(Trigger.SPEC_CHANGED)
    before.answer(Activity.RESOLVE, NO_SOURCE)
    run = await driver.sync()
    view = await until(run, lambda view: view["reason"] == "SourceNotReady")
    assert (view["phase"], view["deadline"]) == ("Waiting", "")
    before.reads(Trigger.RETRY, pre_sync=(HookRun("migrate", 4),))
    await driver.sync(RETRY)
    again = await before.called(Activity.RUN_HOOKS, 2)
    assert again.plan.pre_sync == (HookRun("migrate", 3),)
    assert await status(run) is WorkflowExecutionStatus.RUNNING


@pytest.mark.parametrize("step", [Activity.CLAIM, Activity.RUN_HOOKS])
async def test_a_cluster_that_is_unreachable_for_a_moment_does_not_end_the_wait_for_a_hook(
    driver: Driver, before: Script, step: Activity
) -> None:
    before.answer(Activity.RUN_HOOKS, RUNS)
    await driver.sync_now()
    run = driver.open_sync()
    before.reads(Trigger.RETRY)
    before.answer(step, failure("ClusterNotReady", "no route"))
    await driver.sync(RETRY)
    assert (await before.called(Activity.RECORD, 2)).outcome.reason == "ClusterNotReady"
    assert await status(run) is WorkflowExecutionStatus.RUNNING
    before.reads(Trigger.HEALTH_REACHED)
    await driver.sync(REACHED)
    assert (await result(run)).reason == "Applied"


async def test_a_tick_keeps_the_numbers_of_the_runs(driver: Driver, before: Script) -> None:
    before.answer(Activity.RUN_HOOKS, RUNS, RUNS)
    await driver.sync_now()
    before.reads(Trigger.PERIODIC, pre_sync=(HookRun("migrate", 4), HookRun("added", 1)))
    await driver.sync(PERIODIC)
    again = await before.called(Activity.RUN_HOOKS, 2)
    assert again.plan.pre_sync == (HookRun("migrate", 3), HookRun("added", 1))
    assert before.steps().count(Activity.DRY_RUN) == 2


@pytest.mark.parametrize("trigger", [Trigger.PERIODIC, Trigger.HEALTH_REACHED])
async def test_a_hook_that_was_changed_is_another_run(
    driver: Driver, before: Script, trigger: Trigger
) -> None:
    before.plan = replace(before.plan, pre_sync=(HookRun("first", 1, "a"), HookRun("migrate", 3, "b")))
    before.answer(Activity.RUN_HOOKS, RUNS, RUNS)
    await driver.sync_now()
    before.reads(trigger, pre_sync=(HookRun("first", 2, "a"), HookRun("migrate", 4, "c")))
    await driver.sync(SyncRequest(trigger=trigger, uid="uid-1", id="next"))
    again = await before.called(Activity.RUN_HOOKS, 2)
    assert again.plan.pre_sync == (HookRun("first", 1, "a"), HookRun("migrate", 4, "c"))


async def test_another_render_has_its_own_runs(driver: Driver, before: Script) -> None:
    before.answer(Activity.RUN_HOOKS, RUNS)
    await driver.sync_now()
    before.reads(Trigger.PERIODIC, render_ref="r2", pre_sync=(HookRun("migrate", 4),))
    run = driver.open_sync()
    await driver.sync(PERIODIC)
    await result(run)
    assert before.args(Activity.RUN_HOOKS)[-1].plan.pre_sync == (HookRun("migrate", 4),)


# --- after the sync ------------------------------------------------------------------------------


async def test_post_sync_hooks_run_between_the_inventory_and_the_result(
    driver: Driver, after: Script
) -> None:
    settled = await result(await driver.sync())
    assert settled.message == "applied 4 objects of main@1, pruned 1"
    assert after.steps()[-3:] == [Activity.WRITE_INVENTORY, Activity.RUN_HOOKS, Activity.RECORD]
    assert after.args(Activity.RUN_HOOKS)[0].stage == HookStage.POST_SYNC


async def test_the_success_is_told_while_the_hook_runs_and_the_run_stays_open(
    driver: Driver, after: Script
) -> None:
    after.answer(Activity.RUN_HOOKS, SMOKE)
    settled = await driver.sync_now()
    assert (settled.status, settled.reason) == ("True", "Applied")
    assert settled.message == f"applied 4 objects of main@1, pruned 1; postSync hooks: {SMOKE.message}"
    view = await state(driver.open_sync())
    assert (view["phase"], view["reason"]) == ("PostSync", "Applied")
    described = await driver.open_sync().describe()
    assert described.search_attributes["ConvoyPhase"] == ["PostSync"]
    assert after.args(Activity.RECORD)[-1].post_sync_runs, "step 8 follows step 7"


async def test_later_batches_run_as_earlier_ones_complete_and_nothing_is_applied_again(
    driver: Driver, after: Script
) -> None:
    second = replace(SMOKE, message="hook tell runs as Job default/tell-1")
    after.answer(Activity.RUN_HOOKS, SMOKE, second)
    await driver.sync_now()
    after.reads(Trigger.HEALTH_REACHED, changed_render=False)
    await driver.sync(REACHED)
    run = driver.open_sync()
    await after.called(Activity.RECORD, 2)
    await until(run, lambda view: view["phase"] == "PostSync" and "tell" in view["message"])
    after.reads(Trigger.HEALTH_REACHED, changed_render=False)
    await driver.sync(replace(REACHED, id="2026-01-02T00:00:01Z"))
    settled = await result(run)
    assert (settled.reason, settled.message) == ("Applied", "applied 4 objects of main@1")
    assert after.steps().count(Activity.APPLY_WAVE) == 2
    assert after.steps().count(Activity.RUN_HOOKS) == 3
    assert [one.post_sync_runs for one in after.args(Activity.RECORD)] == [True, True, False]
    assert [one.only_looked for one in after.args(Activity.RECORD)] == [False, True, True]


async def test_the_request_of_the_health_loop_is_handled_by_the_pass_that_goes_on(
    driver: Driver, after: Script
) -> None:
    after.answer(Activity.RUN_HOOKS, SMOKE)
    await driver.sync_now()
    after.reads(Trigger.HEALTH_REACHED, changed_render=False, requested_at="2026-01-02T00:00:00Z")
    run = driver.open_sync()
    await driver.sync(REACHED)
    await result(run)
    recorded = after.args(Activity.RECORD)[-1]
    assert (recorded.attempted, recorded.outcome.applied, recorded.outcome.changed) == (True, True, False)
    assert recorded.plan.requested_at == "2026-01-02T00:00:00Z"


async def test_in_manual_mode_hooks_go_on_though_nothing_is_to_be_applied(
    driver: Driver, after: Script
) -> None:
    overdue = replace(SMOKE, deadline=time.time() + 1)
    after.answer(Activity.RUN_HOOKS, overdue)
    after.reads(Trigger.SPEC_CHANGED)
    in_sync = Resolved(Decision.STOP, replace(after.plan, trigger=Trigger.TIMED_OUT), "Applied", "in sync")
    after.answer(Activity.RESOLVE, in_sync)
    assert (await result(await driver.sync())).reason == "Applied"
    assert after.steps().count(Activity.RUN_HOOKS) == 2
    recorded = after.args(Activity.RECORD)
    assert [(one.attempted, one.post_sync_runs) for one in recorded] == [(True, True), (False, False)]


async def test_in_manual_mode_hooks_of_what_is_not_recorded_go_on_behind_a_changed_spec(
    driver: Driver, after: Script
) -> None:
    after.answer(Activity.RUN_HOOKS, SMOKE, SMOKE)
    await driver.sync_now()
    changed = replace(after.plan, trigger=Trigger.SPEC_CHANGED, spec_hash="another", unrecorded=True)
    after.answer(Activity.RESOLVE, Resolved(Decision.STOP, changed, "Applied", "in sync"))
    run = driver.open_sync()
    await driver.sync(SyncRequest(trigger=Trigger.SPEC_CHANGED, uid="uid-1", id="changed"))
    recorded = await after.called(Activity.RECORD, 2)
    assert (recorded.attempted, recorded.only_looked, recorded.post_sync_runs) == (False, True, True)
    after.reads(Trigger.HEALTH_REACHED)
    await driver.sync(REACHED)
    assert (await result(run)).reason == "Applied"
    assert after.steps().count(Activity.APPLY_WAVE) == 2


async def test_in_manual_mode_hooks_of_what_is_not_recorded_go_on_in_the_next_run(
    driver: Driver, after: Script
) -> None:
    tick = replace(after.plan, trigger=Trigger.PERIODIC, unrecorded=True)
    after.answer(Activity.RESOLVE, Resolved(Decision.STOP, tick, "Applied", "in sync"))
    assert (await result(await driver.sync(PERIODIC))).reason == "Applied"
    assert after.steps() == [Activity.RESOLVE, Activity.RUN_HOOKS, Activity.RECORD]
    assert not after.args(Activity.RECORD)[-1].post_sync_runs


async def test_a_report_in_manual_mode_leaves_running_hooks_alone(driver: Driver, after: Script) -> None:
    after.answer(Activity.RUN_HOOKS, SMOKE)
    await driver.sync_now()
    after.answer(
        Activity.RESOLVE,
        Resolved(Decision.STOP, replace(after.plan, trigger=Trigger.PERIODIC), "Applied", "in sync"),
    )
    await driver.sync(PERIODIC)
    await after.called(Activity.RECORD, 2)
    view = await until(driver.open_sync(), lambda view: view["message"] == "in sync")
    assert view["phase"] == "PostSync"
    assert after.args(Activity.RECORD)[-1].post_sync_runs


async def test_a_source_that_is_unreachable_at_a_look_does_not_end_the_wait_for_a_later_hook(
    driver: Driver, after: Script
) -> None:
    after.answer(Activity.RUN_HOOKS, replace(SMOKE, deadline=time.time() + 1))
    after.reads(Trigger.SPEC_CHANGED)
    after.answer(Activity.RESOLVE, NO_SOURCE)
    run = await driver.sync()
    view = await until(run, lambda view: view["reason"] == "SourceNotReady")
    assert view["phase"] == "PostSync"
    after.reads(Trigger.HEALTH_REACHED, changed_render=False)
    await driver.sync(REACHED)
    assert (await result(run)).reason == "Applied"
    assert after.steps().count(Activity.APPLY_WAVE) == 2


async def test_a_failed_post_sync_hook_is_told_and_changes_nothing(driver: Driver, after: Script) -> None:
    after.answer(Activity.RUN_HOOKS, HooksAnswer(done=True, message="hook smoke failed: exit code 1"))
    settled = await result(await driver.sync())
    assert (settled.status, settled.reason) == ("True", "Applied")
    assert settled.message.endswith("; postSync hooks: hook smoke failed: exit code 1")


async def test_post_sync_hooks_that_cannot_be_run_change_nothing_either(
    driver: Driver, after: Script
) -> None:
    after.answer(Activity.RUN_HOOKS, failure("Unsupported", "not there"))
    settled = await result(await driver.sync())
    assert (settled.status, settled.reason) == ("True", "Applied")
    assert settled.message.endswith("; postSync hooks: Unsupported: not there")


async def test_post_sync_hooks_are_tried_again_where_the_cluster_is_out_of_reach(
    driver: Driver, after: Script
) -> None:
    after.answer(Activity.RUN_HOOKS, failure("ClusterNotReady", "no route"))
    settled = await driver.sync_now()
    assert (settled.status, settled.reason) == ("True", "Applied")
    assert settled.message.endswith("; postSync hooks: ClusterNotReady: no route")
    view = await state(driver.open_sync())
    assert (view["phase"], bool(view["deadline"])) == ("PostSync", True)
    after.reads(Trigger.TIMED_OUT, changed_render=False)
    run = driver.open_sync()
    await driver.sync(SyncRequest(trigger=Trigger.TIMED_OUT, uid="uid-1"))
    assert (await result(run)).reason == "Applied"
    assert after.steps().count(Activity.RUN_HOOKS) == 2
    assert after.steps().count(Activity.APPLY_WAVE) == 2


async def test_a_tick_behind_a_success_is_a_sync_of_its_own_that_starts_no_hook_twice(
    driver: Driver, after: Script
) -> None:
    after.answer(Activity.RUN_HOOKS, SMOKE, SMOKE)
    await driver.sync_now()
    after.reads(Trigger.PERIODIC, changed_render=False, post_sync=(HookRun("smoke", 2),))
    await driver.sync(PERIODIC)
    recorded = await after.called(Activity.RECORD, 2)
    assert after.args(Activity.RUN_HOOKS)[-1].plan.post_sync == (HookRun("smoke", 1),)
    assert recorded.plan.trigger is Trigger.PERIODIC
    assert after.steps().count(Activity.APPLY_WAVE) == 4


async def test_another_render_does_not_wait_for_the_hooks_of_the_last_one(
    driver: Driver, after: Script
) -> None:
    after.answer(Activity.RUN_HOOKS, SMOKE)
    await driver.sync_now()
    after.reads(Trigger.SPEC_CHANGED, render_ref="r2", post_sync=())
    run = driver.open_sync()
    await driver.sync(SyncRequest(trigger=Trigger.SPEC_CHANGED, uid="uid-1", id="new"))
    assert (await result(run)).render_ref == "r2"


async def test_an_unchanged_render_without_hooks_left_closes_the_run(driver: Driver, after: Script) -> None:
    after.answer(Activity.RUN_HOOKS, SMOKE)
    await driver.sync_now()
    plan = replace(after.plan, trigger=Trigger.PERIODIC, post_sync=())
    after.answer(Activity.RESOLVE, Resolved(Decision.REAPPLY, plan))
    run = driver.open_sync()
    await driver.sync(PERIODIC)
    assert (await result(run)).reason == "Applied"


async def test_a_deletion_does_not_wait_for_post_sync_hooks(driver: Driver, after: Script) -> None:
    after.answer(Activity.RUN_HOOKS, SMOKE)
    await driver.sync_now()
    after.answer(Activity.RESOLVE, Resolved(Decision.TEARDOWN, after.plan))
    run = driver.open_sync()
    await driver.sync(SyncRequest(trigger=Trigger.DELETED, uid="uid-1"))
    async with asyncio.timeout(SAFETY):
        assert (await result(run)).reason == "Deleted"
