"""The steps of a sync: their order, and which of them are left out (`reference/apply-and-prune`)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.workflows.doubles import Script, failure
from tests.workflows.driver import Driver, failed, result
from workflows.contract import Activity, Decision, Resolved

STEPS = [
    Activity.RESOLVE,
    Activity.CLAIM,
    Activity.DRY_RUN,
    Activity.STORE_RENDER,
    Activity.APPLY_WAVE,
    Activity.APPLY_WAVE,
    Activity.PRUNE,
    Activity.WRITE_INVENTORY,
    Activity.RECORD,
]


async def test_the_steps_run_in_the_order_of_the_page(driver: Driver, script: Script) -> None:
    script.plan = replace(script.plan, store=True, prune=True)
    await result(await driver.sync())
    assert script.steps() == STEPS
    assert [wave.index for wave in script.args(Activity.APPLY_WAVE)] == [0, 1]


async def test_a_forced_sync_leaves_out_the_dry_run(driver: Driver, script: Script) -> None:
    script.plan = replace(script.plan, force_requested_at="2026-01-01T00:00:00Z")
    await result(await driver.sync())
    assert Activity.DRY_RUN not in script.steps()
    assert all(wave.seen == "" for wave in script.args(Activity.APPLY_WAVE))


async def test_without_a_render_store_nothing_is_stored(driver: Driver, script: Script) -> None:
    await result(await driver.sync())
    assert Activity.STORE_RENDER not in script.steps()


async def test_without_prune_nothing_is_deleted(driver: Driver, script: Script) -> None:
    await result(await driver.sync())
    assert Activity.PRUNE not in script.steps()


async def test_what_the_dry_run_saw_reaches_every_wave(driver: Driver, script: Script) -> None:
    await result(await driver.sync())
    assert [wave.seen for wave in script.args(Activity.APPLY_WAVE)] == ["seen", "seen"]


@pytest.mark.parametrize("step", STEPS[1:-1], ids=str)
async def test_the_steps_after_the_first_failed_one_do_not_run(
    driver: Driver, script: Script, step: Activity
) -> None:
    script.plan = replace(script.plan, store=True, prune=True)
    script.answer(step, failure("DeployFailed", "the API server is on fire"))
    error = await failed(await driver.sync())
    assert error.type == "DeployFailed"
    assert script.steps() == [*STEPS[: STEPS.index(step) + 1], Activity.RECORD]


async def test_an_unchanged_render_is_applied_by_one_activity(driver: Driver, script: Script) -> None:
    script.answer(Activity.RESOLVE, Resolved(Decision.REAPPLY, script.plan))
    settled = await result(await driver.sync())
    assert script.steps() == [Activity.RESOLVE, Activity.REAPPLY, Activity.RECORD]
    assert (settled.reason, settled.changed) == ("Applied", False)


async def test_where_nothing_is_due_nothing_is_recorded(driver: Driver, script: Script) -> None:
    script.answer(Activity.RESOLVE, Resolved(Decision.NOTHING, message="seen already"))
    settled = await result(await driver.sync())
    assert script.steps() == [Activity.RESOLVE]
    assert (settled.reason, settled.message) == ("Nothing", "seen already")


async def test_a_teardown_ends_the_run_and_records_nothing(driver: Driver, script: Script) -> None:
    script.answer(Activity.RESOLVE, Resolved(Decision.TEARDOWN, script.plan))
    settled = await result(await driver.sync())
    assert script.steps() == [Activity.RESOLVE, Activity.TEARDOWN]
    assert (settled.reason, settled.message) == ("Deleted", "deleted 3 objects, left 0 on the cluster")


async def test_a_failed_teardown_is_recorded_and_tried_again(driver: Driver, script: Script) -> None:
    script.answer(Activity.RESOLVE, Resolved(Decision.TEARDOWN, script.plan))
    script.answer(Activity.TEARDOWN, failure("ClusterNotReady", "no route"))
    error = await failed(await driver.sync())
    assert error.type == "ClusterNotReady"
    assert script.steps() == [Activity.RESOLVE, Activity.TEARDOWN, Activity.RECORD]
