"""Messages of Sync: what is asked of it, and what its steps take and answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from convoy.policy.trigger import Trigger
from workflows.contract.health import WaveHealth
from workflows.contract.plan import Plan


@dataclass(frozen=True, slots=True)
class SyncRequest:
    """One wish for a reconcile. Requests with the same `id` are one wish: a watcher's echo starts no second pass."""

    trigger: Trigger = Trigger.MANUAL
    uid: str = ""
    """UID of the Release that is meant; empty when typed by hand."""
    id: str = ""
    """For a /sync request the annotation's value; otherwise whatever tells this event from the next."""
    force: bool = False
    delay_ms: int = 0
    """Sub-second backoff; a Temporal timer would take a whole second, so the first activity sleeps it."""


class Decision(StrEnum):
    """What `resolve` found to do."""

    NOTHING = "Nothing"
    """The Release is gone, is another one by UID, or has already seen all that was asked for."""
    STOP = "Stop"
    """There is a reason to apply nothing: a failure, or a wait."""
    APPLY = "Apply"
    REAPPLY = "Reapply"
    """The render is the one applied last and nothing has to wait: one activity does all of it."""
    TEARDOWN = "Teardown"


@dataclass(frozen=True, slots=True)
class ResolveInput:
    """What one pass answers."""

    requests: tuple[SyncRequest, ...]
    delay_ms: int = 0


@dataclass(frozen=True, slots=True)
class Resolved:
    """The answer of `resolve`."""

    decision: Decision
    plan: Plan = field(default_factory=Plan)
    reason: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """The answer of `claim`."""

    planned: int = 0
    """Keys that are held now and not applied yet."""


@dataclass(frozen=True, slots=True)
class DryRunResult:
    """The answer of `dry-run`; the UIDs it saw wait in the working store under `seen`."""

    checked: int
    skipped: int
    seen: str


@dataclass(frozen=True, slots=True)
class WaveInput:
    """Apply one wave: `index` counts from 0 in the order of the plan."""

    plan: Plan
    index: int
    seen: str = ""


@dataclass(frozen=True, slots=True)
class WaveResult:
    """The answer of `apply-wave`."""

    applied: int
    changed: int
    uncounted: bool = False
    """An earlier attempt may have changed more than is counted."""


@dataclass(frozen=True, slots=True)
class PruneResult:
    """The answer of `prune`."""

    deleted: int
    kept: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a pass ended. Reason `Applied` with `applied` true is a success."""

    reason: str
    message: str
    applied: bool = False
    changed: bool = False
    pruned: int = 0
    note: str = ""
    """What events tell in the message's place: without times, so that saying it again counts the first event."""


@dataclass(frozen=True, slots=True)
class ReapplyResult:
    """The answer of `reapply`."""

    changed: int
    pruned: int


@dataclass(frozen=True, slots=True)
class RecordInput:
    """What `record` writes into the Release's status and tells the Drift workflow."""

    plan: Plan
    outcome: Outcome
    attempted: bool
    """Step 1 of the eight began: `lastAttempted` tells of it."""
    health: WaveHealth | None = None
    """Set if the pass has looked at the health of a wave and applied none after it."""
    post_sync_runs: bool = False
    """The postSync hooks of what is applied are waited for: step 8 follows at their end."""
    only_looked: bool = False
    """A pass before has applied the render; this one has looked at its postSync hooks and no more."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """The answer of `record`: the condition as written."""

    status: str
    message: str


@dataclass(frozen=True, slots=True)
class Settled:
    """The answer of update `sync`: the attempt's first settled result, holds included."""

    requested_at: str = ""
    status: str = ""
    reason: str = "Nothing"
    message: str = "nothing was asked for"
    render_ref: str = ""
    changed: bool = False
