"""The gates of a plan: which waves wait, how long, and what is left of the time of one (D25)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from convoy.api.names import APPLIED
from convoy.api.objects import Manifest
from convoy.api.release import Release
from convoy.api.release_status import ReleaseStatus
from convoy.api.rendered import Render
from convoy.api.times import format_time, second_or_none
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


def gate_of(plan: Plan) -> Manifest | None:
    """Return the gate that the plan's attempt has found closed, as `lastAttempted` keeps it for the next one."""
    if not plan.failed_gate or not plan.closed_until:
        return None
    until = datetime.fromtimestamp(plan.closed_until, UTC)
    wave = plan.waves[plan.failed_gate].wave
    return {"wave": wave, "until": format_time(until), "generation": plan.generation}


def closed_gate(release: Release, render_ref: str, waves: Sequence[WavePlan]) -> tuple[int, float]:
    """Return the gate that the latest attempt at this render has found closed, counted from 0, and until when it waits.

    (0, 0) where there is none. How the attempt ended does not matter: no passing failure moves a deadline. Who changed
    the Release since may have changed the timeout, so it gets its whole time.
    """
    latest = release.status.last_attempted
    if latest is None or latest.gate is None or latest.render_ref != render_ref:
        return 0, 0.0
    if latest.gate.generation != release.metadata.generation:
        return 0, 0.0
    until = second_or_none(latest.gate.until)
    for index, wave in enumerate(waves):
        if until is not None and wave.gate and wave.wave == latest.gate.wave:
            return index, until.timestamp()
    return 0, 0.0


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
