"""Update `approve`: who may let which hook go on, and that no approval is lost or taken for another run."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

import pytest
from temporalio.client import WorkflowUpdateFailedError

from convoy.policy.trigger import Trigger
from tests.workflows.doubles import Script, failure
from tests.workflows.driver import Driver, failed, result, state, until
from workflows.contract import Activity, Approved, Decision, HookRun, HooksAnswer, Resolved, SyncRequest

ASKS = HooksAnswer(done=False, reason="WaitingForApproval", message="hook go waits", awaits=("go",))


@pytest.fixture
def asking(script: Script) -> Script:
    """An approval before the first wave."""
    script.plan = replace(script.plan, pre_sync=(HookRun("go", 1), HookRun("dba", 1)), changed_render=True)
    return script


@pytest.fixture
async def waiting(driver: Driver, asking: Script) -> None:
    asking.answer(Activity.RUN_HOOKS, ASKS)
    settled = await driver.sync_now()
    assert (settled.reason, settled.message) == ("WaitingForApproval", "hook go waits")


def written(script: Script) -> list[tuple[str, HookRun, Approved]]:
    """What was written down: of which render, of which run of which hook, and who approved."""
    return [(one.render_ref, one.run, one.approved) for one in script.args(Activity.APPROVE_HOOK)]


async def test_an_approved_hook_goes_on_and_is_told_who_approved_it(
    driver: Driver, asking: Script, waiting: None
) -> None:
    asking.reads(Trigger.APPROVED)
    run = driver.open_sync()
    approved = await driver.approve("go", "ada@example.org")
    assert (approved.hook, approved.by, approved.at[:2]) == ("go", "ada@example.org", "20")
    assert (await result(run)).reason == "Applied"
    assert written(asking) == [("r1", HookRun("go", 1), approved)]
    steps = asking.steps()
    assert steps.index(Activity.APPROVE_HOOK) < len(steps) - 1 - steps[::-1].index(Activity.RUN_HOOKS)
    assert [one.trigger for one in asking.args(Activity.RESOLVE)[1].requests] == [Trigger.APPROVED]


async def test_the_query_tells_which_hooks_wait_for_a_person(driver: Driver, waiting: None) -> None:
    assert (await state(driver.open_sync()))["awaits"] == ["go"]


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (("dba", "ada"), "no hook 'dba' waits for an approval; these do: go"),
        (("go", ""), "say who approves"),
        (("go",), "say who approves"),
        (("go", "ada", "more"), "positional arguments"),
        ((), "no hook '' waits for an approval; these do: go"),
    ],
    ids=str,
)
async def test_what_waits_for_no_approval_and_a_nameless_one_are_refused(
    driver: Driver, asking: Script, waiting: None, args: tuple[str, ...], why: str
) -> None:
    with pytest.raises(WorkflowUpdateFailedError) as refused:
        await driver.approve(*args)
    assert why in str(refused.value.cause)
    assert asking.steps().count(Activity.RESOLVE) == 1


async def test_a_sync_that_waits_for_nobody_refuses_an_approval(driver: Driver, asking: Script) -> None:
    gate = asking.hold(Activity.APPLY_WAVE)
    run = await driver.sync()
    await gate.reached()
    with pytest.raises(WorkflowUpdateFailedError) as refused:
        await driver.approve("go", "ada")
    assert "no hook 'go' waits for an approval; none does" in str(refused.value.cause)
    gate.open()
    await result(run)


async def test_a_hook_is_approved_once(driver: Driver, asking: Script, waiting: None) -> None:
    gate = asking.hold(Activity.RESOLVE)
    asking.reads(Trigger.APPROVED)
    run = driver.open_sync()
    await driver.approve("go", "ada")
    await gate.reached()
    with pytest.raises(WorkflowUpdateFailedError):
        await driver.approve("go", "bob")
    gate.open()
    await result(run)
    assert [approved.by for _, _, approved in written(asking)] == ["ada"]


async def test_while_one_is_written_down_a_second_one_is_refused(
    driver: Driver, asking: Script, waiting: None
) -> None:
    gate = asking.hold(Activity.APPROVE_HOOK)
    asking.reads(Trigger.APPROVED)
    run = driver.open_sync()
    first = asyncio.create_task(driver.approve("go", "ada"))
    await gate.reached()
    with pytest.raises(WorkflowUpdateFailedError):
        await driver.approve("go", "bob")
    gate.open()
    assert (await first).by == "ada"
    await result(run)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("hook go is asked anew: look what it waits for now", "hook go is asked anew"),
        (failure("DeployFailed", "convoy's own API server: no"), "could not be written down"),
    ],
    ids=["it counts for nothing any more", "nobody could write it"],
)
async def test_whoever_approves_is_told_where_it_does_not_count(
    driver: Driver, asking: Script, waiting: None, answer: object, why: str
) -> None:
    asking.answer(Activity.APPROVE_HOOK, answer)
    with pytest.raises(WorkflowUpdateFailedError) as refused:
        await driver.approve("go", "ada")
    assert why in str(refused.value.cause)
    assert asking.steps().count(Activity.RESOLVE) == 1
    assert (await state(driver.open_sync()))["awaits"] == ["go"]


async def test_an_approval_while_the_wait_is_recorded_is_not_lost(driver: Driver, asking: Script) -> None:
    asking.answer(Activity.RUN_HOOKS, ASKS)
    gate = asking.hold(Activity.RECORD)
    run = await driver.sync()
    await gate.reached()
    asking.reads(Trigger.APPROVED)
    await driver.approve("go", "ada")
    gate.open()
    assert (await result(run)).reason == "Applied"


async def test_an_approval_during_a_tick_is_not_lost(driver: Driver, asking: Script, waiting: None) -> None:
    gate = asking.hold(Activity.DRY_RUN)
    asking.reads(Trigger.PERIODIC)
    run = driver.open_sync()
    await driver.sync(SyncRequest(trigger=Trigger.PERIODIC, uid="uid-1"))
    await gate.reached()
    await driver.approve("go", "ada")
    gate.open()
    await result(run)
    assert [approved.by for _, _, approved in written(asking)] == ["ada"]


async def test_an_approval_outlives_a_pass_that_fails_behind_it(
    driver: Driver, asking: Script, waiting: None
) -> None:
    asking.answer(Activity.RUN_HOOKS, failure("ClusterNotReady", "no route"))
    asking.reads(Trigger.APPROVED)
    await driver.approve("go", "ada")
    assert (await asking.called(Activity.RECORD, 2)).outcome.reason == "ClusterNotReady"
    assert [approved.by for _, _, approved in written(asking)] == ["ada"]


async def test_an_approval_that_stands_in_the_status_is_not_taken_for_the_next_run(
    driver: Driver, asking: Script, waiting: None
) -> None:
    runs = HooksAnswer(done=False, reason="WaitingForHook", message="hook migrate runs")
    asking.answer(Activity.RUN_HOOKS, runs)
    asking.reads(Trigger.APPROVED)
    await driver.approve("go", "ada")
    await asking.called(Activity.RECORD, 2)
    asking.reads(Trigger.SPEC_CHANGED)
    run = driver.open_sync()
    await driver.sync(SyncRequest(trigger=Trigger.SPEC_CHANGED, uid="uid-1", id="new"))
    await result(run)
    assert [hooks.approvals for hooks in asking.args(Activity.RUN_HOOKS)] == [(), (), ()]


async def test_an_approval_of_one_render_does_not_count_for_the_next(
    driver: Driver, asking: Script, waiting: None
) -> None:
    gate = asking.hold(Activity.RESOLVE)
    asking.reads(Trigger.APPROVED, render_ref="r2")
    run = driver.open_sync()
    await driver.sync(SyncRequest(trigger=Trigger.PERIODIC, uid="uid-1"))
    await gate.reached()
    await driver.approve("go", "ada")
    gate.open()
    await result(run)
    assert [ref for ref, _, _ in written(asking)] == ["r1"]


async def test_an_approval_after_the_sync_is_taken_too(driver: Driver, script: Script) -> None:
    script.plan = replace(script.plan, post_sync=(HookRun("go", 1),), changed_render=True)
    script.answer(Activity.RUN_HOOKS, ASKS)
    assert (await driver.sync_now()).reason == "Applied"
    script.reads(Trigger.APPROVED, changed_render=False)
    run = driver.open_sync()
    approved: Approved = await driver.approve("go", "ada")
    await result(run)
    assert written(script) == [("r1", HookRun("go", 1), approved)]
    assert script.steps().count(Activity.APPLY_WAVE) == 2


@pytest.mark.parametrize("step", [Activity.RUN_HOOKS, Activity.RESOLVE])
async def test_an_approval_after_the_sync_is_taken_while_the_cluster_is_out_of_reach(
    driver: Driver, script: Script, step: Activity
) -> None:
    script.plan = replace(script.plan, post_sync=(HookRun("go", 1),), changed_render=True)
    script.answer(Activity.RUN_HOOKS, replace(ASKS, deadline=time.time() + 1))
    script.reads(Trigger.SPEC_CHANGED)
    if step is Activity.RESOLVE:
        stop = replace(script.plan, trigger=Trigger.TIMED_OUT)
        script.answer(Activity.RESOLVE, Resolved(Decision.STOP, stop, "ClusterNotReady", "no route"))
    else:
        script.reads(Trigger.TIMED_OUT, changed_render=False)
        script.answer(Activity.RUN_HOOKS, failure("ClusterNotReady", "no route"))
    run = await driver.sync()
    await script.called(Activity.RECORD, 2)
    view = await until(run, lambda view: "no route" in view["message"])
    assert (view["phase"], view["awaits"]) == ("PostSync", ["go"])
    script.reads(Trigger.APPROVED, changed_render=False)
    await driver.approve("go", "ada")
    assert (await result(run)).reason == "Applied"


async def test_a_refused_hook_ends_the_sync(driver: Driver, asking: Script, waiting: None) -> None:
    asking.answer(Activity.RUN_HOOKS, failure("HookFailed", "nobody approved hook go within 24h"))
    asking.reads(Trigger.TIMED_OUT)
    run = driver.open_sync()
    await driver.sync(SyncRequest(trigger=Trigger.TIMED_OUT, uid="uid-1"))
    assert (await failed(run)).type == "HookFailed"
