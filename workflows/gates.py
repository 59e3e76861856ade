"""Waits for health: before a wave with strategy Health, and before a prune with `afterHealthy` (D21, D25).

A gate holds only what is news. A pass over an unchanged render that changes no object on its way goes through without
a look at anybody's health, so a periodic reconcile never flips `Applied`.
"""

from __future__ import annotations

from datetime import timedelta

from temporalio import workflow

from convoy.api.errors import DeployFailed, WaitingForHealth, WaitingForWave
from convoy.api.times import format_duration
from workflows.contract import Activity, HealthAnswer, HealthCheck, WaveHealth
from workflows.state import Resume
from workflows.steps import StepFailed, Waits, limit_for, step
from workflows.telling import time_of


async def pass_gate(at: Resume, index: int) -> bool:
    """Go through the gate of a wave; returns whether the wave before it was looked at and found healthy.

    Raises `Waits` where it is not, and `StepFailed` where it is not at the gate's deadline.
    """
    wave = at.plan.waves[index]
    if not wave.gate or index < at.gate or not _is_news(at):
        return False
    before = at.plan.waves[index - 1].wave
    answer = await _look(at, index - 1, summary=f"is wave {before} healthy?")
    if answer.healthy:
        at.gate, at.deadline = index + 1, 0.0
        return True
    at.gate, at.deadline = index, at.deadline or workflow.time() + wave.timeout
    if workflow.time() >= at.deadline:
        timeout = format_duration(timedelta(seconds=wave.timeout))
        raise StepFailed(
            DeployFailed.reason,
            f"wave {wave.wave} is not applied, since wave {before} is not healthy after {timeout}: {answer.message}",
            health=WaveHealth(index - 1, "Failed"),
        )
    raise Waits(
        WaitingForWave.reason,
        f"wave {wave.wave} waits until {time_of(at.deadline)} for wave {before} to be healthy: {answer.message}",
        deadline=at.deadline,
        health=WaveHealth(index - 1, "WaitingForHealth"),
    )


async def pass_prune_gate(at: Resume) -> WaveHealth | None:
    """Go through the gate of the prune; returns what there is to say of the last wave. Raises `Waits`, for ever."""
    last = len(at.plan.waves) - 1
    if last < 0 or not at.plan.prune or not at.plan.prune_after_healthy or not _is_news(at):
        return None
    answer = await _look(at, -1, summary="is the render healthy?")
    if answer.healthy:
        return WaveHealth(last, "Healthy")
    raise Waits(
        WaitingForHealth.reason,
        f"the prune waits for the render to be healthy: {answer.message}",
        health=WaveHealth(last, "WaitingForHealth"),
    )


async def _look(at: Resume, index: int, *, summary: str) -> HealthAnswer:
    plan = at.plan
    return await step(
        Activity.CHECK_HEALTH,
        HealthCheck(plan, index),
        HealthAnswer,
        summary=summary,
        limit=limit_for(plan.objects),
        fairness_key=plan.cluster,
    )


def _is_news(at: Resume) -> bool:
    return at.plan.changed_render or at.plan.forced or at.changed > 0
