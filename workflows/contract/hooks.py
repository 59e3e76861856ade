"""Messages about the lifecycle hooks of a pass, and about approvals."""

from __future__ import annotations

from dataclasses import dataclass

from convoy.api.hooks import HookStage
from workflows.contract.plan import HookRun, Plan


@dataclass(frozen=True, slots=True)
class Approved:
    """A person let an approval hook go on: update `approve` of Sync."""

    hook: str
    by: str
    """The authenticated user of the API server, or who typed the update."""
    at: str


@dataclass(frozen=True, slots=True)
class ApproveInput:
    """Write into `status.hooks` who lets a run of a hook go on.

    The answer is empty, or says why it does not wait any more.
    """

    uid: str
    render_ref: str
    run: HookRun
    approved: Approved


@dataclass(frozen=True, slots=True)
class HooksInput:
    """Bring the hooks of one stage as far as they go now: create what is due, take the results, write `status.hooks`.

    Called again when something may have changed; it looks at what is there and needs no memory. A failed preSync
    hook is the failure `HookFailed`; a failed postSync hook is told in the status and the events and ends its stage.
    """

    plan: Plan
    stage: HookStage
    approvals: tuple[Approved, ...] = ()
    """Of runs that were open before approvals were written at once (`ApproveInput`)."""


@dataclass(frozen=True, slots=True)
class HooksAnswer:
    """The answer of `run-hooks`."""

    done: bool
    reason: str = ""
    """`WaitingForHook` or `WaitingForApproval`, where it is not done."""
    message: str = ""
    deadline: float = 0.0
    """When the next hook that is waited for is overdue, in seconds since the epoch: call again then. 0: never."""
    awaits: tuple[str, ...] = ()
    """Names of the approval hooks that wait for a person."""
