"""Waits for health: before a wave with strategy Health, and before a prune with `afterHealthy` (D21, D25).

A gate holds only what is news. A pass over a render that is applied as a whole, and that changes no object on its way,
goes through without a look at anybody's health, so a periodic reconcile never flips `Applied`. Nor does a wave that is
healthy within seconds: before a pass ends in a wait, it gives what it has just applied a moment.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

from temporalio import workflow

from convoy.api.errors import DeployFailed, Transient, WaitingForHealth, WaitingForWave, is_reason_of
from convoy.api.times import format_duration
from workflows.contract import Activity, HealthAnswer, HealthCheck, WaveHealth
from workflows.state import Point, Resume, SyncState
from workflows.steps import StepFailed, Waits, limit_for, step
from workflows.telling import time_of

GRACE = 5.0
"""Seconds that a gate which is found closed gives before it is a wait. It is a timer, which holds no worker."""


async def pass_gate(state: SyncState, at: Resume, index: int) -> None:
    """Go through the gate of a wave, if it has one.

    Raises `Waits` where the wave before it is not healthy, and `StepFailed` where it is not at the gate's deadline. The
    plan keeps a closed gate and its deadline for the attempts to come, so that no failure in between moves it. One that
    has timed out gets no second deadline: the retry of that failure looks once and fails again, so that failures add up
    and their backoff grows.
    """
    wave = at.plan.waves[index]
    if not wave.gate or index < at.gate or not _is_news(at):
        return
    before = at.plan.waves[index - 1].wave
    question = f"is wave {before} healthy?"
    if index <= at.plan.failed_gate and not at.deadline:
        at.gate, at.deadline = index, at.plan.closed_until or workflow.time()
    answer = await _look(at, index - 1, summary=question, again=bool(at.deadline))
    if not answer.healthy and not at.deadline:
        at.gate, at.deadline = index, workflow.time() + wave.timeout
        await _give_a_moment(state, within=wave.timeout)
        answer = await _look(at, index - 1, summary=question)
    if answer.healthy:
        at.gate, at.deadline = index + 1, 0.0
        if index >= at.plan.failed_gate:
            at.plan = replace(at.plan, failed_gate=0, closed_until=0.0)
        return
    if index >= at.plan.failed_gate:
        at.plan = replace(at.plan, failed_gate=index, closed_until=at.deadline)
    if workflow.time() >= at.deadline:
        timeout = format_duration(timedelta(seconds=wave.timeout))
        raise StepFailed(
            DeployFailed.reason,
            f"wave {wave.wave} is not applied, since wave {before} is not healthy after {timeout}: {answer.message}",
            health=WaveHealth(index - 1, "Failed"),
        )
    waits_for = f"for wave {before} to be healthy: {answer.message}"
    raise Waits(
        WaitingForWave.reason,
        f"wave {wave.wave} waits until {time_of(at.deadline)} {waits_for}",
        deadline=at.deadline,
        health=WaveHealth(index - 1, "WaitingForHealth"),
        note=f"wave {wave.wave} waits {waits_for}",
    )


async def pass_prune_gate(state: SyncState, at: Resume) -> WaveHealth | None:
    """Go through the gate of the prune; returns what there is to say of the last wave. Raises `Waits`, for ever."""
    last = len(at.plan.waves) - 1
    if last < 0 or not at.plan.prune or not at.plan.prune_after_healthy:
        return None
    if not _is_news(at):
        return WaveHealth(last, "Healthy")  # as it was found when it was news
    question = "is the render healthy?"
    again = state.wait is not None and state.wait.at.point is Point.PRUNE
    answer = await _look(at, -1, summary=question, again=again)
    if not answer.healthy and not again:
        await _give_a_moment(state, within=GRACE)
        answer = await _look(at, -1, summary=question)
    if answer.healthy:
        return WaveHealth(last, "Healthy")
    raise Waits(
        WaitingForHealth.reason,
        f"the prune waits for the render to be healthy: {answer.message}",
        health=WaveHealth(last, "WaitingForHealth"),
    )


async def _give_a_moment(state: SyncState, *, within: float) -> None:
    """Wait for the news that all is healthy, or for any other."""
    with suppress(TimeoutError):
        await workflow.wait_condition(
            lambda: bool(state.inbox),
            timeout=min(GRACE, within),
            timeout_summary="what is healthy at once makes nobody wait",
        )


async def _look(at: Resume, index: int, *, summary: str, again: bool = True) -> HealthAnswer:
    """Ask for health. While it is waited for (`again`), a cluster that cannot be asked is just not healthy yet."""
    plan = at.plan
    try:
        return await step(
            Activity.CHECK_HEALTH,
            HealthCheck(plan, index),
            HealthAnswer,
            summary=summary,
            limit=limit_for(plan.objects),
            fairness_key=plan.cluster,
        )
    except StepFailed as error:
        if not again or not is_reason_of(error.reason, Transient):
            raise
        return HealthAnswer(healthy=False, message=str(error))


def _is_news(at: Resume) -> bool:
    """Return whether there may be something that no gate has seen; where it is not known there is."""
    plan = at.plan
    return plan.changed_render or plan.forced or plan.unfinished or at.changed > 0 or at.in_doubt
