"""Requests: each is answered, none is lost, and what is one wish makes one pass (D22, D23)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from temporalio.client import WorkflowHandle

from convoy.policy.trigger import Trigger
from tests.workflows.doubles import SAFETY, Script
from tests.workflows.driver import Driver, result, signal
from workflows.contract import Activity, AskSync, Decision, Resolved, SignalName, SyncRequest, WavePlan

RACES = 60


def requested(id: str) -> SyncRequest:
    return SyncRequest(trigger=Trigger.SYNC_REQUESTED, uid="uid-1", id=id)


@asynccontextmanager
async def in_the_middle(
    driver: Driver, script: Script, first: SyncRequest, *, at: Activity = Activity.APPLY_WAVE
) -> AsyncIterator[WorkflowHandle[Any, Any]]:
    """Run the block while a step of the first pass is held; afterwards the run has ended."""
    gate = script.hold(at)
    run = await driver.sync(first)
    await gate.reached()
    yield run
    gate.open()
    await result(run)


async def test_a_request_during_a_pass_is_answered_by_one_more_pass_of_the_same_run(
    driver: Driver, script: Script
) -> None:
    async with in_the_middle(driver, script, requested("a")) as run:
        again = await driver.sync(requested("b"))
    assert script.steps().count(Activity.RESOLVE) == 2
    assert (await again.describe()).run_id == (await run.describe()).run_id


async def test_a_burst_of_requests_during_a_pass_is_one_more_pass(driver: Driver, script: Script) -> None:
    async with in_the_middle(driver, script, requested("0")):
        await asyncio.gather(*(driver.sync(requested(str(number))) for number in range(1, 101)))
    assert script.steps().count(Activity.RESOLVE) == 2


async def test_a_deletion_stops_the_waves_to_come_and_the_teardown_follows(
    driver: Driver, script: Script
) -> None:
    script.plan = replace(script.plan, waves=(WavePlan(0, 1), WavePlan(1, 1), WavePlan(2, 1)))
    async with in_the_middle(driver, script, requested("a")):
        script.answer(Activity.RESOLVE, Resolved(Decision.TEARDOWN, script.plan))
        await driver.sync(SyncRequest(trigger=Trigger.DELETED, uid="uid-1", id="deleted"))
    steps = script.steps()
    assert steps.count(Activity.APPLY_WAVE) == 1
    assert steps[-2:] == [Activity.RESOLVE, Activity.TEARDOWN]


async def test_the_deletion_of_an_earlier_release_of_the_name_stops_nothing(
    driver: Driver, script: Script
) -> None:
    async with in_the_middle(driver, script, requested("a")):
        script.answer(Activity.RESOLVE, Resolved(Decision.NOTHING, script.plan))
        await driver.sync(SyncRequest(trigger=Trigger.DELETED, uid="uid-0", id="deleted"))
    assert script.steps().count(Activity.APPLY_WAVE) == len(script.plan.waves)
    assert script.steps()[-2:] == [Activity.RECORD, Activity.RESOLVE]


async def test_the_same_request_twice_is_one_pass(driver: Driver, script: Script) -> None:
    async with in_the_middle(driver, script, requested("a")):
        await driver.sync(requested("a"))
    assert script.steps().count(Activity.RESOLVE) == 1


async def test_requests_without_an_id_are_never_taken_for_one_that_was_answered(
    driver: Driver, script: Script
) -> None:
    periodic = SyncRequest(trigger=Trigger.PERIODIC, uid="uid-1")
    async with in_the_middle(driver, script, periodic):
        await driver.sync(periodic)
    assert script.steps().count(Activity.RESOLVE) == 2


async def test_a_request_typed_by_hand_is_written_to_the_release_before_anything_else(
    driver: Driver, script: Script
) -> None:
    run = await driver.sync(SyncRequest())
    await result(run)
    assert script.steps()[:2] == [Activity.ASK_SYNC, Activity.RESOLVE]
    assert script.args(Activity.ASK_SYNC) == [
        AskSync(uid="", trigger=Trigger.MANUAL, annotate=True, force=False, signal=False)
    ]


async def test_a_signal_without_input_is_a_request(driver: Driver, script: Script) -> None:
    async with in_the_middle(driver, script, requested("a")) as run:
        await signal(run, SignalName.SYNC)
    assert script.steps()[-1:] == [Activity.RECORD]
    assert script.steps().count(Activity.RESOLVE) == 2


async def test_the_watchers_echo_of_a_request_typed_by_hand_starts_no_second_pass(
    driver: Driver, script: Script
) -> None:
    script.answer(Activity.ASK_SYNC, "2026-02-02T02:02:02Z")
    async with in_the_middle(driver, script, SyncRequest()):
        await driver.sync(requested("2026-02-02T02:02:02Z"))
    assert script.steps().count(Activity.RESOLVE) == 1


async def test_an_echo_that_is_faster_than_the_answer_starts_no_second_pass_either(
    driver: Driver, script: Script
) -> None:
    script.answer(Activity.ASK_SYNC, "2026-02-02T02:02:02Z")
    async with in_the_middle(driver, script, SyncRequest(), at=Activity.ASK_SYNC):
        await driver.sync(requested("2026-02-02T02:02:02Z"))
    assert script.steps().count(Activity.RESOLVE) == 1


async def test_a_flood_of_requests_keeps_its_force_and_writes_one_request(
    driver: Driver, script: Script
) -> None:
    async with in_the_middle(driver, script, requested("a")):
        await driver.sync(SyncRequest(force=True))
        await asyncio.gather(*(driver.sync(SyncRequest(id=str(number))) for number in range(150)))
    assert [asked.force for asked in script.args(Activity.ASK_SYNC)] == [True]
    assert script.steps().count(Activity.RESOLVE) == 2


async def test_requests_for_many_releases_of_this_name_stay_bounded_and_keep_the_latest(
    driver: Driver, script: Script
) -> None:
    async with in_the_middle(driver, script, requested("a")):
        for number in range(120):
            await driver.sync(SyncRequest(trigger=Trigger.SPEC_CHANGED, uid=f"uid-{number}"))
    uids = [request.uid for request in script.args(Activity.RESOLVE)[1].requests]
    assert uids == [f"uid-{number}" for number in range(20, 120)]


async def test_a_sub_second_delay_is_slept_by_the_first_activity(driver: Driver, script: Script) -> None:
    retry = SyncRequest(trigger=Trigger.RETRY, uid="uid-1", delay_ms=40)
    await result(await driver.sync(retry))
    assert (await script.called(Activity.RESOLVE)).delay_ms == 40


async def test_a_request_without_delay_does_not_wait_for_one_with(driver: Driver, script: Script) -> None:
    async with in_the_middle(driver, script, requested("a")):
        await driver.sync(SyncRequest(trigger=Trigger.RETRY, uid="uid-1", delay_ms=640))
        await driver.sync(requested("b"))
    assert [asked.delay_ms for asked in script.args(Activity.RESOLVE)] == [0, 0]


async def test_signals_that_race_the_close_of_a_run_reach_it_or_the_next_one(
    driver: Driver, script: Script
) -> None:
    """Each signal is sent at another moment around the last activity; after each a pass must have begun."""
    script.answer(Activity.RESOLVE, *[Resolved(Decision.STOP, script.plan, "Suspended", "")] * (2 * RACES))
    for race in range(RACES):
        recording = script.hold(Activity.RECORD)
        await driver.sync(requested(f"{race}/first"))
        await recording.reached()
        began = script.steps().count(Activity.RESOLVE)
        recording.open()
        await asyncio.sleep(race % 12 * 0.003)
        await driver.sync(requested(f"{race}/second"))
        async with asyncio.timeout(SAFETY):
            await script.called(Activity.RESOLVE, began + 1)
            while True:
                run = driver.open_sync()
                await result(run)
                if (await driver.open_sync().describe()).run_id == (await run.describe()).run_id:
                    break
        asked = {one.id for call in script.args(Activity.RESOLVE) for one in call.requests}
        assert f"{race}/second" in asked
