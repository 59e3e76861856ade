"""The gates of a plan: which waves wait, how long, and which one has timed out (D25)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import pairwise

from convoy.api.errors import DeployFailed
from convoy.api.names import APPLIED
from convoy.api.release import Release
from convoy.api.release_status import ReleaseStatus
from convoy.api.rendered import Render
from convoy.api.times import second_or_none
from workflows.contract import Plan, WavePlan

GATE_TIMEOUT = timedelta(minutes=10)
"""How long a wave with strategy Health waits, where `spec.syncWaves` sets no timeout, or 0."""


def waves_of(release: Release, render: Render) -> Iterator[WavePlan]:
    """Yield the waves of the render; the first one has none before it whose health it could wait for."""
    timeouts = {
        wave.wave: (wave.timeout or GATE_TIMEOUT).total_seconds()
        for wave in release.spec.sync_waves
        if wave.strategy == "Health"
    }
    for index, (wave, objects) in enumerate(render.waves()):
        gate = index > 0 and wave in timeouts
        yield WavePlan(wave, len(objects), gate=gate, timeout=timeouts[wave] if gate else 0.0)


def failed_gate(status: ReleaseStatus, render_ref: str, waves: Sequence[WavePlan]) -> int:
    """Return the wave whose gate has timed out in the latest attempt at this render, counted from 0; 0: none has.

    Then the wave before it is Failed though all of it is applied, and it failed in that attempt.
    """
    latest, known = status.last_attempted, {wave.wave: wave for wave in status.waves}
    began = second_or_none(latest.started_at) if latest is not None else None
    if latest is None or began is None:
        return 0
    if (latest.render_ref, latest.reason) != (render_ref, DeployFailed.reason):
        return 0
    for index, (before, wave) in enumerate(pairwise(waves), start=1):
        was = known.get(before.wave)
        if not wave.gate or was is None or was.phase != "Failed" or was.applied != before.objects:
            continue
        ended = second_or_none(was.finished_at)
        if ended is not None and ended >= began:
            return index
    return 0


def left_unfinished(status: ReleaseStatus) -> bool:
    """Whether the latest attempt, at whatever render, ended before its end: by a wait, a failure or a crash.

    It may have changed what no gate has seen since, also where the render is the one that was applied before it.
    """
    attempted = status.last_attempted
    return attempted is not None and attempted.reason != APPLIED


def may_wait(plan: Plan) -> bool:
    """Whether the pass has places at which it may have to wait, which one activity cannot."""
    gates = any(wave.gate for wave in plan.waves) or (plan.prune and plan.prune_after_healthy)
    return gates or bool(plan.pre_sync or plan.post_sync)
