"""Messages of Drift: what starts a pass, what it found, and what it asks Sync for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from convoy.api.release import SyncPolicy
from convoy.policy.trigger import Trigger


@dataclass(slots=True)
class DriftStart:
    """What a new Drift begins with."""

    uid: str = ""
    tick: float = 120.0
    """Seconds between two ticks; 0 means none."""


class Cause(StrEnum):
    """Why a drift pass is due (`reference/drift`, When the observer checks; D37)."""

    CREATED = "Created"
    SPEC_CHANGED = "SpecChanged"
    INVENTORY_CHANGED = "InventoryChanged"
    TICK = "Tick"
    CHECK = "Check"
    DELETED = "Deleted"
    """No pass is due: it finds that the Release is gone, and Drift ends."""
    SYNC_ENDED = "SyncEnded"
    """A pass that met a running Sync is made again at its end (D35)."""


@dataclass(frozen=True, slots=True)
class Changed:
    """Signal `changed`: the Release is gone; or something that starts a pass, from a watcher of an earlier version."""

    uid: str
    cause: Cause
    id: str
    """Tells this event from the next: the spec's hash, or the inventory's renderRef."""


@dataclass(frozen=True, slots=True)
class SyncEnded:
    """Signal `outcome`: how a pass of Sync ended, and the policy that decides when the next one is due."""

    uid: str
    reason: str
    policy: SyncPolicy
    rollout_due: float = 0.0
    """When the time of the Release's rollout is up (D28), in seconds since the epoch; 0: none is running."""
    spec_hash: str = ""
    """Of the Release as it was then. With `render_ref` it tells Drift whether a pass is due."""
    render_ref: str = ""
    """The render that was applied last."""


class Verdict(StrEnum):
    """What a pass found."""

    IN_SYNC = "InSync"
    DRIFTED = "Drifted"
    UNDETERMINED = "Undetermined"
    BUSY = "Busy"
    """A Sync of the Release is applying; the pass is made again when it ends (D35)."""
    SKIPPED = "Skipped"
    """The Release is being deleted."""
    GONE = "Gone"
    """There is no such Release: the Drift workflow ends."""


@dataclass(frozen=True, slots=True)
class DriftInput:
    """One drift pass."""

    cause: Cause
    ticked: bool = False
    """The tick is due: Busy is the answer only where Temporal knows the Sync as open (D35), and in manual mode the pass
    reports in the periodic reconcile's place."""
    fights: tuple[tuple[str, ...], ...] = ()
    """What was healed in the latest passes (D32), as `convoy.drift.fights` keeps it."""


@dataclass(frozen=True, slots=True)
class DriftReport:
    """The answer of `drift-pass`, and of update `check` (D37)."""

    verdict: Verdict
    uid: str = ""
    message: str = ""
    compared: int = 0
    in_sync: int = 0
    modified: int = 0
    missing: int = 0
    began_at: str = ""
    changes: str = ""
    """Ref to the stored changes of each object."""
    drifted: tuple[str, ...] = ()
    """The first drifted fields as `<object>: <JSON pointer>`; a missing object has the empty pointer."""
    tick: float = 0.0
    """Seconds between two ticks: the shorter of `spec.syncPolicy.interval` and `--resync`, where set; 0: none."""
    heal: bool = False
    """Automatic mode, drifted and not suspended: a /sync request is due."""
    reconcile: bool = False
    """A tick asks Sync for a periodic reconcile; false in manual mode without a pending request."""
    fights: tuple[tuple[str, ...], ...] = ()
    spec_hash: str = ""
    """Of the Release that was compared; empty where none was."""
    render_ref: str = ""
    """The render that was applied last as the pass began."""
    desired: str = ""
    """The render that was compared; empty where none was."""


@dataclass(frozen=True, slots=True)
class AskSync:
    """Ask Sync for a pass; with `annotate` through the same request path as a user's /sync (D23)."""

    uid: str
    trigger: Trigger
    annotate: bool = False
    force: bool = False
    signal: bool = True
    delay_ms: int = 0


@dataclass(frozen=True, slots=True)
class RecordRetry:
    """`status.retry`, written by Drift: when the next try is due and after how many failures."""

    uid: str
    failures: int
    at: str
