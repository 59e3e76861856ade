"""A wait for an owner (D14, D25): the run stays open, holds nothing, and ends by an event."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from temporalio.client import WorkflowExecutionStatus

from convoy.policy.trigger import Trigger
from tests.workflows.doubles import SAFETY, Script, failure
from tests.workflows.driver import Driver, result, state, status
from workflows import history
from workflows.contract import Activity, Decision, Plan, Resolved, Settled, SyncRequest
from workflows.state import SyncState


@pytest.fixture
async def waiting(driver: Driver, script: Script) -> None:
    script.answer(Activity.CLAIM, failure("WaitingForOwner", "ConfigMap a/b belongs to team/other"))
    settled = await driver.sync_now()
    assert settled.reason == "WaitingForOwner"


async def test_the_run_stays_open_and_tells_what_it_waits_for(driver: Driver, waiting: None) -> None:
    run = driver.open_sync()
    assert await status(run) is WorkflowExecutionStatus.RUNNING
    view = await state(run)
    assert (view["phase"], view["reason"]) == ("Waiting", "WaitingForOwner")
    assert view["message"] == "ConfigMap a/b belongs to team/other"


async def test_wake_makes_a_new_pass_in_the_same_run(driver: Driver, script: Script, waiting: None) -> None:
    run = driver.open_sync()
    await driver.wake("uid-1")
    assert (await result(run)).reason == "Applied"
    woken = (await script.called(Activity.RESOLVE, 2)).requests
    assert woken == (SyncRequest(trigger=Trigger.OWNER_CHANGED, uid="uid-1"),)


async def test_wake_for_another_release_of_this_name_does_nothing(
    driver: Driver, script: Script, waiting: None
) -> None:
    await driver.wake("uid-of-a-predecessor")
    run = driver.open_sync()
    await state(run)  # answered behind the signal
    assert script.steps().count(Activity.RESOLVE) == 1
    assert await status(run) is WorkflowExecutionStatus.RUNNING


async def test_any_request_makes_a_new_pass(driver: Driver, script: Script, waiting: None) -> None:
    run = driver.open_sync()
    await driver.sync(SyncRequest(trigger=Trigger.PERIODIC, uid="uid-1"))
    assert (await result(run)).reason == "Applied"


async def test_a_pass_that_waits_again_keeps_the_run_open(
    driver: Driver, script: Script, waiting: None
) -> None:
    script.answer(Activity.CLAIM, failure("WaitingForOwner", "still"))
    assert (await driver.sync_now()).message == "still"
    assert await status(driver.open_sync()) is WorkflowExecutionStatus.RUNNING


async def test_another_result_ends_the_wait(driver: Driver, script: Script, waiting: None) -> None:
    script.answer(Activity.RESOLVE, Resolved(Decision.STOP, script.plan, "Suspended", "suspended"))
    run = driver.open_sync()
    assert (await driver.sync_now()).reason == "Suspended"
    assert (await result(run)).reason == "Suspended"


async def test_a_request_that_was_seen_already_does_not_end_the_wait(
    driver: Driver, script: Script, waiting: None
) -> None:
    nothing = Resolved(Decision.NOTHING, Plan(uid="uid-1"), message="seen already")
    script.answer(Activity.RESOLVE, nothing)
    run = driver.open_sync()
    assert (await driver.sync_now()).reason == "Nothing"
    view = await state(run)
    assert (view["phase"], view["reason"]) == ("Waiting", "WaitingForOwner")
    await driver.wake("uid-1")
    assert (await result(run)).reason == "Applied"


async def test_the_wait_ends_where_the_release_is_gone(driver: Driver, script: Script, waiting: None) -> None:
    script.answer(Activity.RESOLVE, Resolved(Decision.NOTHING, message="there is no Release"))
    run = driver.open_sync()
    await driver.wake("")
    assert (await result(run)).reason == "WaitingForOwner"


async def test_an_owner_that_lets_go_while_the_wait_begins_is_not_missed(
    driver: Driver, script: Script
) -> None:
    script.answer(Activity.CLAIM, failure("WaitingForOwner"))
    gate = script.hold(Activity.RECORD)
    run = await driver.sync()
    await gate.reached()
    await driver.wake("uid-1")
    gate.open()
    assert (await result(run)).reason == "Applied"


async def test_wake_changes_nothing_for_a_pass_that_does_not_wait(driver: Driver, script: Script) -> None:
    gate = script.hold(Activity.RECORD)
    run = await driver.sync()
    await gate.reached()
    await driver.wake("uid-1")
    gate.open()
    await result(run)
    assert script.steps().count(Activity.RESOLVE) == 1


async def test_a_deletion_ends_the_wait(driver: Driver, script: Script, waiting: None) -> None:
    script.answer(Activity.RESOLVE, Resolved(Decision.TEARDOWN, script.plan))
    run = driver.open_sync()
    await driver.sync(SyncRequest(trigger=Trigger.DELETED, uid="uid-1"))
    assert (await result(run)).reason == "Deleted"


async def test_a_wait_survives_continue_as_new(driver: Driver, script: Script) -> None:
    run = await driver.start_sync(SyncState(waiting="uid-1"))
    assert (await state(run))["phase"] == "Waiting"
    await driver.wake("uid-1")
    assert (await result(run)).reason == "Applied"


async def test_a_flood_of_wakes_for_others_makes_a_waiting_run_continue_as_new(
    driver: Driver, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "EVENTS", 40)
    script.plan = replace(script.plan, waves=())
    waits = Settled(status="False", reason="WaitingForOwner", message="ConfigMap a/b belongs to team/other")
    started = await driver.start_sync(SyncState(waiting="uid-1", result=waits))
    first = driver.client.get_workflow_handle(driver.release.sync, run_id=started.first_execution_run_id)
    async with asyncio.timeout(SAFETY):
        while await status(first) is WorkflowExecutionStatus.RUNNING:
            await driver.wake("uid-of-another")
    assert await status(first) is WorkflowExecutionStatus.CONTINUED_AS_NEW
    assert (await state(driver.open_sync()))["message"] == "ConfigMap a/b belongs to team/other"
    await driver.wake("uid-1")
    assert (await result(driver.open_sync())).reason == "Applied"
