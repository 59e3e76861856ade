"""A render that is gone from the working store: the pass starts again from resolve, three times at most."""

from __future__ import annotations

import pytest

from convoy.policy.trigger import Trigger
from tests.workflows.doubles import Script, render_missing
from tests.workflows.driver import Driver, failed, result
from workflows.contract import Activity, SyncRequest


@pytest.mark.parametrize("step", [Activity.CLAIM, Activity.DRY_RUN, Activity.APPLY_WAVE], ids=str)
async def test_the_pass_starts_again_from_resolve(driver: Driver, script: Script, step: Activity) -> None:
    script.answer(step, render_missing())
    assert (await result(await driver.sync())).reason == "Applied"
    assert script.args(Activity.RESOLVE)[1].requests == (SyncRequest(trigger=Trigger.RESTARTED, uid="uid-1"),)
    assert script.steps().count(Activity.RECORD) == 1


async def test_the_third_time_the_deploy_has_failed(driver: Driver, script: Script) -> None:
    script.answer(Activity.APPLY_WAVE, *[render_missing()] * 3)
    error = await failed(await driver.sync())
    assert error.type == "DeployFailed"
    assert error.message == "the render disappears from the working store: render r1 is gone"
    assert script.steps().count(Activity.RESOLVE) == 3


async def test_each_pass_has_three_tries_of_its_own(driver: Driver, script: Script) -> None:
    script.answer(Activity.CLAIM, render_missing(), render_missing())
    gate = script.hold(Activity.RECORD)
    run = await driver.sync()
    await gate.reached()
    script.answer(Activity.CLAIM, render_missing(), render_missing())
    await driver.sync(SyncRequest(trigger=Trigger.PERIODIC, uid="uid-1"))
    gate.open()
    assert (await result(run)).reason == "Applied"
    assert script.steps().count(Activity.RESOLVE) == 6
