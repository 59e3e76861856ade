"""Ids and names: of workflows, activities, signals, updates, search attributes and task queues."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

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
    APPROVE_HOOK = "approve-hook"
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
