"""The contract between workflows, activities, workers and watcher: ids, names, messages.

Workflows name activities by this contract and never import them. Every message carries the Release's UID (D39), so
that a workflow which holds the state of a Release that was deleted and made again under the same name discards it.
Messages carry refs, counts and verdicts: no manifest and no Secret value enters a workflow payload.
"""

from workflows.contract.drift import (
    AskSync,
    Cause,
    Changed,
    DriftInput,
    DriftReport,
    RecordRetry,
    SyncEnded,
    Verdict,
)
from workflows.contract.health import HealthAnswer, HealthCheck, Observed, ObserveInput, Watch, WaveHealth
from workflows.contract.hooks import Approved, HooksAnswer, HooksInput
from workflows.contract.names import (
    MAX_ID,
    OBSERVING,
    RENDER_MISSING,
    STATE_QUERY,
    TASK_QUEUE,
    Activity,
    BadWorkflowId,
    ReleaseId,
    SearchAttribute,
    SignalName,
    UpdateName,
    release_of,
)
from workflows.contract.plan import HookRun, Plan, WavePlan
from workflows.contract.sync import (
    ClaimResult,
    Decision,
    DryRunResult,
    Outcome,
    PruneResult,
    ReapplyResult,
    Recorded,
    RecordInput,
    Resolved,
    ResolveInput,
    Settled,
    SyncRequest,
    WaveInput,
    WaveResult,
)

__all__ = [
    "MAX_ID",
    "OBSERVING",
    "RENDER_MISSING",
    "STATE_QUERY",
    "TASK_QUEUE",
    "Activity",
    "Approved",
    "AskSync",
    "BadWorkflowId",
    "Cause",
    "Changed",
    "ClaimResult",
    "Decision",
    "DriftInput",
    "DriftReport",
    "DryRunResult",
    "HealthAnswer",
    "HealthCheck",
    "HookRun",
    "HooksAnswer",
    "HooksInput",
    "ObserveInput",
    "Observed",
    "Outcome",
    "Plan",
    "PruneResult",
    "ReapplyResult",
    "RecordInput",
    "RecordRetry",
    "Recorded",
    "ReleaseId",
    "ResolveInput",
    "Resolved",
    "SearchAttribute",
    "Settled",
    "SignalName",
    "SyncEnded",
    "SyncRequest",
    "UpdateName",
    "Verdict",
    "Watch",
    "WaveHealth",
    "WaveInput",
    "WavePlan",
    "WaveResult",
    "release_of",
]
