"""The contract between workflows, activities, workers and watcher: ids, names, messages.

Workflows name activities by this contract and never import them. Every message carries the Release's UID (D39), so
that a workflow which holds the state of a Release that was deleted and made again under the same name discards it.
Messages carry refs, counts and verdicts: no manifest and no Secret value enters a workflow payload.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from convoy.api.hooks import HookStage as HookStage
from convoy.api.release import SyncPolicy
from convoy.policy.trigger import Trigger

TASK_QUEUE = "convoy"
OBSERVING = "-observing"
"""What the queue of `observe-health` has behind its name: waiting must not take the slots of those who work."""
MAX_ID = 255
"""Temporal refuses longer workflow ids on some databases."""


_KINDS = ("sync", "drift", "health")

RENDER_MISSING = "RenderMissing"
"""Failure type of an activity that does not find the render: the pass starts again from resolve."""


class BadWorkflowId(ValueError):
    """A workflow id that is not `<kind>/<namespace>/<name>`; it was typed by hand."""


@dataclass(frozen=True, slots=True)
class ReleaseId:
    """Which Release a workflow is about: taken from the workflow id alone, never from an input (D39)."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def sync(self) -> str:
        """The id of the Release's Sync workflow. The id is the lock: two syncs cannot run at once."""
        return f"sync/{self}"

    @property
    def drift(self) -> str:
        """The id of the Release's Drift workflow."""
        return f"drift/{self}"

    @property
    def health(self) -> str:
        """The id of the Release's Health workflow."""
        return f"health/{self}"


def release_of(workflow_id: str) -> ReleaseId:
    """Read the Release from a workflow id; raises `BadWorkflowId`."""
    kind, _, rest = workflow_id.partition("/")
    namespace, _, name = rest.partition("/")
    if kind not in _KINDS or not namespace or not name or "/" in name:
        expected = " or ".join(f"{known}/<namespace>/<name>" for known in _KINDS)
        raise BadWorkflowId(f"workflow id {workflow_id!r}: expected {expected}")
    return ReleaseId(namespace, name)


class Activity(StrEnum):
    """Activity names, as the web UI shows them."""

    RESOLVE = "resolve"
    CLAIM = "claim"
    DRY_RUN = "dry-run"
    STORE_RENDER = "store-render"
    APPLY_WAVE = "apply-wave"
    CHECK_HEALTH = "check-health"
    RUN_HOOKS = "run-hooks"
    PRUNE = "prune"
    WRITE_INVENTORY = "write-inventory"
    REAPPLY = "reapply"
    RECORD = "record"
    TEARDOWN = "teardown"
    ASK_SYNC = "ask-sync"
    DRIFT_PASS = "drift-pass"
    OBSERVE_HEALTH = "observe-health"
    RECORD_RETRY = "record-retry"


class SignalName(StrEnum):
    """Signals of Sync (`sync`, `wake`), of Drift (`changed`, `outcome`) and of Health (`watch`)."""

    SYNC = "sync"
    WAKE = "wake"
    CHANGED = "changed"
    OUTCOME = "outcome"
    WATCH = "watch"


class UpdateName(StrEnum):
    """Updates of Sync (`sync`, `approve`) and of Drift (`check`)."""

    SYNC = "sync"
    APPROVE = "approve"
    CHECK = "check"


STATE_QUERY = "state"


class SearchAttribute(StrEnum):
    """Registered by convoy at start where missing (design 04, rule 15)."""

    RELEASE = "ConvoyRelease"
    CLUSTER = "ConvoyCluster"
    PHASE = "ConvoyPhase"
    TRIGGER = "ConvoyTrigger"
    RENDER = "ConvoyRender"
    CHANGED = "ConvoyChanged"


# --- Sync ---------------------------------------------------------------------------------------


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
class WavePlan:
    """One sync wave of the plan."""

    wave: int
    objects: int
    gate: bool = False
    """Strategy Health: the wave before it has to be healthy before this one starts."""
    timeout: float = 0.0
    """Seconds that the gate waits for; only of a gate."""


@dataclass(frozen=True, slots=True)
class HookRun:
    """A run of a lifecycle hook. The run number is fixed when the pass begins, so that no crash runs it twice (D27)."""

    name: str
    run: int
    definition: str = ""
    """Digest of the hook as the pass has read it; of a chart's hook empty."""


@dataclass(frozen=True, slots=True)
class ResolveInput:
    """What one pass answers."""

    requests: tuple[SyncRequest, ...]
    delay_ms: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """What the steps of one pass need to know. Activities find the render by (`uid`, `render_ref`)."""

    uid: str = ""
    cluster: str = ""
    trigger: Trigger = Trigger.MANUAL
    requested_at: str = ""
    """Annotation value read when the pass began (D22)."""
    force_requested_at: str = ""
    """Annotation value of the force request that this pass uses up (D24); empty when not forced."""
    render_ref: str = ""
    revision: str = ""
    waves: tuple[WavePlan, ...] = ()
    prune: bool = False
    store: bool = False
    started_at: str = ""
    run_id: str = ""
    """The run that began the pass, as `status.sync` has it: the result of another run's pass is not overwritten."""
    generation: int = 0
    """metadata.generation of the Release as the pass read it."""
    changed_render: bool = False
    """The render is another one than the one applied last."""
    prune_after_healthy: bool = False
    """The prune waits until the whole render is healthy (D21)."""
    pre_sync: tuple[HookRun, ...] = ()
    """The preSync hooks that this pass has to see done, in their order; none where all have run for this render."""
    post_sync: tuple[HookRun, ...] = ()
    failed_gate: int = 0
    """The wave, counted from 0, whose gate has timed out for this render: its gate and those before it are not waited
    for again. 0: none has."""

    def runs(self, stage: HookStage) -> tuple[HookRun, ...]:
        """Return the runs of one stage of hooks."""
        return self.pre_sync if stage is HookStage.PRE_SYNC else self.post_sync

    @property
    def forced(self) -> bool:
        """A forced sync skips the dry run (`reference/sync-policy`, Forced sync)."""
        return bool(self.force_requested_at)

    @property
    def objects(self) -> int:
        """How many objects the render has."""
        return sum(wave.objects for wave in self.waves)


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
    """A sync waits for it: it is watched on also when an object has failed, since it may recover."""
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


@dataclass(frozen=True, slots=True)
class Approved:
    """A person let an approval hook go on: update `approve` of Sync."""

    hook: str
    by: str
    """The authenticated user of the API server, or who typed the update."""
    at: str


@dataclass(frozen=True, slots=True)
class HooksInput:
    """Bring the hooks of one stage as far as they go now: create what is due, take the results, write `status.hooks`.

    Called again when something may have changed; it looks at what is there and needs no memory. A failed preSync
    hook is the failure `HookFailed`; a failed postSync hook is told in the status and the events and ends its stage.
    """

    plan: Plan
    stage: HookStage
    approvals: tuple[Approved, ...] = ()


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


# --- Drift --------------------------------------------------------------------------------------


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
    """Signal `changed`: something that starts a pass happened to the Release."""

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
    patient: bool = True
    """Answer Busy also where only the status tells of a Sync; otherwise Temporal has to know it as open (D35)."""
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
