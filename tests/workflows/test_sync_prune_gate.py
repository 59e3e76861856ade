"""`prune.afterHealthy`: the prune waits until the whole render is healthy (D21)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from convoy.policy.trigger import Trigger
from tests.workflows.doubles import Gate, Script
from tests.workflows.driver import Driver, result, state
from tests.workflows.gating import CLOSED, REACHED, SICK
from workflows.contract import (
    Activity,
    SyncRequest,
    WaveHealth,
    WaveResult,
)


@pytest.fixture
def careful(script: Script) -> Script:
    """The prune waits for the health of the whole render."""
    script.plan = replace(script.plan, prune=True, prune_after_healthy=True, changed_render=True)
    return script


async def test_the_prune_waits_without_a_deadline_for_the_render_to_be_healthy(
    driver: Driver, careful: Script
) -> None:
    careful.answer(Activity.CHECK_HEALTH, *CLOSED)
    settled = await driver.sync_now()
    assert settled.reason == "WaitingForHealth"
    assert settled.message == (
        "the prune waits for the render to be healthy: Deployment.apps shop/mill: 0 of 1 replicas are ready"
    )
    assert [check.index for check in careful.args(Activity.CHECK_HEALTH)] == [-1, -1]
    assert Activity.PRUNE not in careful.steps()
    assert (await state(driver.open_sync()))["deadline"] == ""
    assert careful.args(Activity.RECORD)[0].health == WaveHealth(1, "WaitingForHealth")


async def test_when_the_render_is_healthy_the_prune_follows_and_no_wave_is_applied_again(
    driver: Driver, careful: Script
) -> None:
    careful.answer(Activity.CHECK_HEALTH, *CLOSED)
    await driver.sync_now()
    careful.reads(Trigger.HEALTH_REACHED)
    run = driver.open_sync()
    await driver.sync(REACHED)
    assert (await result(run)).reason == "Applied"
    assert [wave.index for wave in careful.args(Activity.APPLY_WAVE)] == [0, 1]
    assert careful.steps()[-3:] == [Activity.PRUNE, Activity.WRITE_INVENTORY, Activity.RECORD]
    assert careful.args(Activity.RECORD)[-1].health == WaveHealth(1, "Healthy")


async def test_without_a_prune_nobody_waits_for_health(driver: Driver, careful: Script) -> None:
    careful.plan = replace(careful.plan, prune=False)
    await result(await driver.sync())
    assert Activity.CHECK_HEALTH not in careful.steps()


async def test_an_unchanged_render_is_pruned_without_a_look_unless_an_attempt_before_it_was_left_unfinished(
    driver: Driver, careful: Script
) -> None:
    careful.plan = replace(careful.plan, changed_render=False)
    careful.answer(Activity.APPLY_WAVE, *[WaveResult(applied=2, changed=0)] * 4)
    await result(await driver.sync())
    assert Activity.CHECK_HEALTH not in careful.steps()
    careful.plan = replace(careful.plan, unfinished=True)
    careful.answer(Activity.CHECK_HEALTH, *CLOSED)
    assert (await driver.sync_now()).reason == "WaitingForHealth"


async def test_a_tick_makes_the_prune_wait_again(driver: Driver, careful: Script) -> None:
    careful.answer(Activity.CHECK_HEALTH, *CLOSED, SICK)
    await driver.sync_now()
    gate: Gate = careful.hold(Activity.RECORD)
    careful.reads(Trigger.PERIODIC)
    await driver.sync(SyncRequest(trigger=Trigger.PERIODIC, uid="uid-1"))
    await gate.reached()
    gate.open()
    assert careful.args(Activity.RECORD)[-1].outcome.reason == "WaitingForHealth"
    assert [wave.index for wave in careful.args(Activity.APPLY_WAVE)] == [0, 1, 0, 1]
