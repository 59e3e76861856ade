"""Update `sync`, as `temporal workflow execute-update-with-start … --update-name sync` sends it."""

from __future__ import annotations

import pytest
from temporalio.client import WorkflowUpdateFailedError

from convoy.policy.trigger import Trigger
from tests.workflows.doubles import Script, failure, render_missing
from tests.workflows.driver import Driver, failed, result
from workflows.contract import Activity, AskSync, Decision, Resolved, SyncRequest


async def test_it_starts_a_run_where_none_is_open_and_answers_with_the_outcome(
    driver: Driver, script: Script
) -> None:
    settled = await driver.sync_now()
    assert (settled.status, settled.reason, settled.render_ref) == ("True", "Applied", "r1")
    await result(driver.open_sync())


async def test_it_writes_the_request_to_the_release_first(driver: Driver, script: Script) -> None:
    await driver.sync_now(True)
    assert script.steps()[:2] == [Activity.ASK_SYNC, Activity.RESOLVE]
    assert script.args(Activity.ASK_SYNC) == [
        AskSync(uid="", trigger=Trigger.MANUAL, annotate=True, force=True, signal=False)
    ]


async def test_during_a_pass_it_is_answered_by_the_next_one(driver: Driver, script: Script) -> None:
    gate = script.hold(Activity.APPLY_WAVE)
    script.answer(Activity.APPLY_WAVE, failure("DeployFailed"))
    await driver.sync()
    await gate.reached()
    asked = await driver.ask()
    gate.open()
    assert (await result(asked)).reason == "Applied"


async def test_many_at_once_get_the_answer_of_one_pass(driver: Driver, script: Script) -> None:
    gate = script.hold(Activity.RECORD)
    await driver.sync()
    await gate.reached()
    asked = [await driver.ask() for _ in range(5)]
    gate.open()
    assert {(await result(one)).reason for one in asked} == {"Applied"}
    assert script.steps().count(Activity.RESOLVE) == 2


@pytest.mark.parametrize("reason", ["WaitingForSync", "WaitingForClusterWave", "Suspended", "Unsupported"])
async def test_it_answers_holds_and_failures_too(driver: Driver, script: Script, reason: str) -> None:
    script.answer(Activity.RESOLVE, Resolved(Decision.STOP, script.plan, reason, "why"))
    settled = await driver.sync_now()
    assert (settled.status, settled.reason, settled.message) == ("False", reason, "why")


async def test_it_answers_at_once_when_the_run_stays_open_to_wait(driver: Driver, script: Script) -> None:
    script.answer(Activity.CLAIM, failure("WaitingForOwner", "ConfigMap a/b belongs to team/other"))
    settled = await driver.sync_now()
    assert (settled.reason, settled.message) == ("WaitingForOwner", "ConfigMap a/b belongs to team/other")


async def test_it_answers_that_there_is_no_such_release(driver: Driver, script: Script) -> None:
    script.answer(Activity.ASK_SYNC, "")
    script.answer(Activity.RESOLVE, Resolved(Decision.NOTHING, message="there is no Release team/x"))
    settled = await driver.sync_now()
    assert (settled.reason, settled.message) == ("Nothing", "there is no Release team/x")


async def test_it_answers_when_the_result_cannot_be_written(driver: Driver, script: Script) -> None:
    script.answer(Activity.RECORD, failure("DeployFailed", "forbidden"))
    assert (await driver.sync_now()).reason == "DeployFailed"


async def test_it_is_answered_after_the_render_got_lost(driver: Driver, script: Script) -> None:
    script.answer(Activity.APPLY_WAVE, render_missing())
    assert (await driver.sync_now()).reason == "Applied"
    assert script.steps().count(Activity.RESOLVE) == 2


async def test_the_same_update_sent_twice_is_one_pass(driver: Driver, script: Script) -> None:
    gate = script.hold(Activity.RESOLVE)
    await driver.sync()
    await gate.reached()
    asked = [await driver.ask("once") for _ in range(2)]
    gate.open()
    first, second = [await result(one) for one in asked]
    assert first == second
    assert len(script.args(Activity.ASK_SYNC)) == 1


@pytest.mark.parametrize("arguments", [("perhaps",), ({"force": True},), (True, "and more")], ids=str)
async def test_input_of_another_shape_is_refused_and_harms_nothing(
    driver: Driver, script: Script, arguments: tuple[object, ...]
) -> None:
    gate = script.hold(Activity.RECORD)
    run = await driver.sync(SyncRequest(trigger=Trigger.CREATED, uid="uid-1"))
    await gate.reached()
    with pytest.raises(WorkflowUpdateFailedError):
        await run.execute_update("sync", args=arguments)
    gate.open()
    assert (await result(run)).reason == "Applied"
    assert Activity.ASK_SYNC not in script.steps()


async def test_an_unknown_update_is_refused_by_name(driver: Driver, script: Script) -> None:
    gate = script.hold(Activity.RECORD)
    script.answer(Activity.CLAIM, failure("DeployFailed"))
    run = await driver.sync()
    await gate.reached()
    with pytest.raises(WorkflowUpdateFailedError) as refused:
        await run.execute_update("synch")
    assert "known updates: [" in str(refused.value.cause)
    gate.open()
    await failed(run)
