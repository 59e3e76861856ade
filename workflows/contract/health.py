"""Messages about health: the gates of Sync, and the Health workflow."""

from __future__ import annotations

from dataclasses import dataclass

from workflows.contract.plan import Plan


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """Is what was applied healthy? Not healthy: the activity also sets the Health workflow to watch it."""

    plan: Plan
    index: int
    """The wave, counted from 0 in the order of the plan; -1: the whole render."""


@dataclass(frozen=True, slots=True)
class HealthAnswer:
    """The answer of `check-health`."""

    healthy: bool
    message: str = ""
    """Names what is not healthy and why; empty where all is."""


@dataclass(frozen=True, slots=True)
class WaveHealth:
    """What `status.waves` says of a wave whose health a pass has waited for."""

    index: int
    phase: str
    """`WaitingForHealth`, `Healthy` or `Failed`."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Signal `watch` of Health: something is waited for. A later one about the same thing takes its place.

    Without `jobs` it is the render's health that is waited for; with them the end of hook Jobs, all of them.
    """

    uid: str
    render_ref: str = ""
    index: int = -1
    """The wave whose health is waited for, counted from 0 in the order of the plan; -1: the whole render."""
    gate: bool = False
    """A sync waits for it and is told of it, news or not; watched on also when an object has failed: it may recover."""
    jobs: tuple[str, ...] = ()
    """Jobs of hooks on the target, as `namespace/name`."""


@dataclass(frozen=True, slots=True)
class ObserveInput:
    """Watch until something of it is settled, or for some minutes."""

    render: Watch | None = None
    jobs: Watch | None = None


@dataclass(frozen=True, slots=True)
class Observed:
    """The answer of `observe-health`. What is not settled is to be watched on."""

    gone: bool = False
    """The Release is gone, or another one by UID."""
    render_settled: bool = False
    jobs_settled: bool = False
    phase: str = ""
    message: str = ""
