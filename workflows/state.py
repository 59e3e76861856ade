"""What a workflow carries over continue-as-new: one class each (design 04, rule 2)."""

from __future__ import annotations

from dataclasses import dataclass, field

from workflows.contract import Changed, DriftReport, Observed, Plan, Settled, SyncEnded, SyncRequest, Watch


@dataclass(slots=True)
class Resume:
    """Where a pass goes on after continue-as-new: the plan and the first wave that is not applied yet."""

    plan: Plan
    next_wave: int
    seen: str
    changed: int


@dataclass(slots=True)
class SyncState:
    """All that a Sync carries from run to run."""

    inbox: list[SyncRequest] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    resume: Resume | None = None
    result: Settled = field(default_factory=Settled)
    """How the latest pass ended."""
    lost: int = 0
    """How often the render of the pass was gone from the working store."""
    waiting: str = ""
    """UID of the Release whose last pass ended in a wait that an event will end (D25): the run stays open."""


@dataclass(slots=True)
class HealthState:
    """All that a Health carries from run to run."""

    render: Watch | None = None
    jobs: Watch | None = None
    last: Observed = field(default_factory=Observed)


@dataclass(slots=True)
class DriftState:
    """All that a Drift carries from run to run. Times are seconds since the epoch."""

    uid: str = ""
    tick: float = 120.0
    """Seconds between two ticks; 0 means none."""
    inbox: list[Changed] = field(default_factory=list)
    ended: list[SyncEnded] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    next_tick: float = 0.0
    failures: int = 0
    next_try: float = 0.0
    passes: int = 0
    busy: bool = False
    """A Sync applies: events and checks wait for its end, at most until the tick (D35)."""
    fights: tuple[tuple[str, ...], ...] = ()
    last: DriftReport | None = None
