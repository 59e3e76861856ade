"""What a workflow carries over continue-as-new: one class each (design 04, rule 2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from workflows.contract import (
    Approved,
    Changed,
    DriftReport,
    DriftStart,
    Observed,
    Plan,
    Settled,
    SyncEnded,
    SyncRequest,
    Watch,
)


class Point(StrEnum):
    """The places of a pass at which it may stop and go on again, in the order of the page's steps."""

    CLAIM = "Claim"
    PRE_SYNC = "PreSync"
    WAVES = "Waves"
    PRUNE = "Prune"
    POST_SYNC = "PostSync"


@dataclass(slots=True)
class Resume:
    """Where a pass stands: there it goes on after continue-as-new and after a wait. Times are seconds of the epoch."""

    plan: Plan
    next_wave: int = 0
    """The first wave that is not applied yet."""
    seen: str = ""
    changed: int = 0
    in_doubt: bool = False
    """More may have changed than was counted."""
    point: Point = Point.WAVES
    pruned: int = 0
    gate: int = 0
    """The gates of the waves below this one are open."""
    deadline: float = 0.0
    """Until when the gate of wave `gate` may stay closed; 0: it has not been found closed."""


@dataclass(slots=True)
class Wait:
    """What an open run waits for without holding a worker (D25); the result tells it to people."""

    at: Resume
    deadline: float = 0.0
    """When the run looks again by itself, in seconds since the epoch; 0: never."""
    awaits: tuple[str, ...] = ()
    """The approval hooks that wait for a person."""


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
    """UID of the Release whose last pass ended in a wait for an owner (D14): the run stays open."""
    wait: Wait | None = None
    """The wait for a wave, a hook, an approval or the health of the render: the run stays open (D25)."""
    approvals: list[Approved] = field(default_factory=list)
    """What people have approved and no step has written down yet: only of runs from before `approve` itself did."""
    approved_ref: str = ""
    """The render that they have approved."""

    @property
    def waits(self) -> bool:
        """Whether the run stays open although nothing is pending."""
        return bool(self.waiting) or self.wait is not None


@dataclass(slots=True)
class HealthState:
    """All that a Health carries from run to run."""

    render: Watch | None = None
    jobs: Watch | None = None
    displaced: tuple[Watch | None, Watch | None] = (None, None)
    """What a watch of another UID has taken the place of, until it shows which of the two Releases is gone."""
    last: Observed = field(default_factory=Observed)


@dataclass(slots=True)
class DriftState(DriftStart):
    """All that a Drift carries from run to run. Times are seconds since the epoch."""

    inbox: list[Changed] = field(default_factory=list)
    ended: list[SyncEnded] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    next_tick: float = 0.0
    failures: int = 0
    next_try: float = 0.0
    rollout_due: float = 0.0
    """When the time of the Release's rollout is up (D28); 0 means that none is running."""
    passes: int = 0
    busy: bool = False
    """A Sync applies: events and checks wait for its end, at most until the tick (D35)."""
    fights: tuple[tuple[str, ...], ...] = ()
    compared: tuple[str, str] = ("", "")
    """Hash of the spec, and ref of the applied render, that the latest pass was about."""
    desired: str = ""
    """Ref of the render that the latest pass compared; empty where it compared none."""
    former: list[str] = field(default_factory=list)
    """UIDs of Releases of this name that are gone."""
    last: DriftReport | None = None
