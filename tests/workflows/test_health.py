"""The Health workflow: open while something is waited for, always at the latest, and closed afterwards."""

from __future__ import annotations

import pytest
from temporalio.client import WorkflowExecutionStatus
from temporalio.exceptions import ApplicationError

from tests.workflows.doubles import Script, failure
from tests.workflows.driver import Driver, result, signal, state, status, until
from workflows.contract import Activity, Observed, ObserveInput, Watch

RENDER = Watch("uid-1", "r1")
JOBS = Watch("uid-1", jobs=("team/migrate",))
NOTHING_YET = Observed(phase="Progressing", message="1 of 1 object not healthy")


async def test_it_closes_when_what_it_watches_is_healthy(driver: Driver, script: Script) -> None:
    seen = await result(await driver.watch(RENDER))
    assert (seen.phase, seen.message) == ("Healthy", "all healthy")
    assert script.args(Activity.OBSERVE_HEALTH) == [ObserveInput(render=RENDER)]


async def test_it_watches_on_as_long_as_nothing_is_settled(driver: Driver, script: Script) -> None:
    script.answer(Activity.OBSERVE_HEALTH, NOTHING_YET, NOTHING_YET)
    await result(await driver.watch(RENDER))
    assert script.args(Activity.OBSERVE_HEALTH) == [ObserveInput(render=RENDER)] * 3


async def test_a_newer_wait_takes_the_place_of_the_one_before(driver: Driver, script: Script) -> None:
    held = script.hold(Activity.OBSERVE_HEALTH)
    run = await driver.watch(RENDER)
    await held.reached()
    later = Watch("uid-1", "r2", index=0, gate=True)
    await driver.watch(later)
    assert (await result(run)).phase == "Healthy"
    assert script.args(Activity.OBSERVE_HEALTH)[-1] == ObserveInput(render=later)
    held.open()


async def test_the_same_wait_again_starts_nothing(driver: Driver, script: Script) -> None:
    held = script.hold(Activity.OBSERVE_HEALTH)
    run = await driver.watch(RENDER)
    await held.reached()
    for _ in range(3):
        await driver.watch(RENDER)
    held.open()
    await result(run)
    assert len(script.args(Activity.OBSERVE_HEALTH)) == 1


async def test_a_render_and_jobs_of_hooks_are_watched_together(driver: Driver, script: Script) -> None:
    held = script.hold(Activity.OBSERVE_HEALTH)
    run = await driver.watch(RENDER)
    await held.reached()
    script.answer(Activity.OBSERVE_HEALTH, Observed(jobs_settled=True))
    await driver.watch(JOBS)
    await result(run)
    held.open()
    asked = script.args(Activity.OBSERVE_HEALTH)
    assert asked == [ObserveInput(RENDER), ObserveInput(RENDER, JOBS), ObserveInput(RENDER)]


async def test_it_ends_with_its_release(driver: Driver, script: Script) -> None:
    script.answer(Activity.OBSERVE_HEALTH, Observed(gone=True))
    assert (await result(await driver.watch(RENDER))).gone


async def test_what_belongs_to_a_release_that_is_gone_is_forgotten(driver: Driver, script: Script) -> None:
    held = script.hold(Activity.OBSERVE_HEALTH)
    run = await driver.watch(JOBS)
    await held.reached()
    made_again = Watch("uid-2", "r1")
    await driver.watch(made_again)
    await result(run)
    held.open()
    assert script.args(Activity.OBSERVE_HEALTH)[-1] == ObserveInput(render=made_again)


async def test_a_late_watch_of_a_release_that_is_gone_takes_no_place(driver: Driver, script: Script) -> None:
    held = script.hold(Activity.OBSERVE_HEALTH)
    run = await driver.watch(RENDER)
    await held.reached()
    script.answer(Activity.OBSERVE_HEALTH, Observed(gone=True))
    late = Watch("uid-0", "r9")
    await driver.watch(late)
    await result(run)
    held.open()
    asked = script.args(Activity.OBSERVE_HEALTH)
    assert asked[-2:] == [ObserveInput(render=late), ObserveInput(render=RENDER)]


async def test_it_tells_what_it_watches(driver: Driver, script: Script) -> None:
    script.answer(Activity.OBSERVE_HEALTH, NOTHING_YET)
    await script_second(script)
    run = await driver.watch(RENDER)
    view = await until(run, lambda view: view["phase"] == "Progressing")
    assert view["render"]["render_ref"] == "r1"
    assert view["message"] == NOTHING_YET.message


async def script_second(script: Script) -> None:
    """Hold the second look, so that the workflow stays open."""
    script.hold(Activity.OBSERVE_HEALTH).open()
    script.hold(Activity.OBSERVE_HEALTH)


async def test_a_watch_that_cannot_be_made_ends_and_says_why(driver: Driver, script: Script) -> None:
    script.answer(Activity.OBSERVE_HEALTH, failure("DeployFailed", "internal error"))
    seen = await result(await driver.watch(RENDER))
    assert (seen.phase, "internal error" in seen.message) == ("Unknown", True)


async def test_a_signal_typed_by_hand_without_input_does_no_harm(driver: Driver, script: Script) -> None:
    held = script.hold(Activity.OBSERVE_HEALTH)
    run = await driver.watch(RENDER)
    await held.reached()
    await signal(run, "watch")
    assert (await state(run))["render"]["render_ref"] == "r1"
    held.open()
    await result(run)
    assert await status(run) == WorkflowExecutionStatus.COMPLETED


async def test_a_long_watch_continues_as_new_and_loses_nothing(driver: Driver, script: Script) -> None:
    script.answer(Activity.OBSERVE_HEALTH, *[NOTHING_YET] * 60)
    run = await driver.watch(RENDER)
    first = (await run.describe()).run_id
    assert (await result(run)).phase == "Healthy"
    assert script.args(Activity.OBSERVE_HEALTH) == [ObserveInput(render=RENDER)] * 61
    assert (await driver.open_health().describe()).run_id != first


async def test_an_id_that_names_no_release_is_refused(driver: Driver) -> None:
    handle = await driver.client.start_workflow("Health", id="health/odd", task_queue=driver.queue)
    with pytest.raises(Exception) as raised:  # noqa: PT011 (the cause says what it is)
        await handle.result()
    assert isinstance(raised.value.__cause__, ApplicationError)
