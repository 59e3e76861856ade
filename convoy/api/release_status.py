"""The status of a Release. Several writers share it, each with a field manager of its own (`names.py`).

Every field is optional and every enumerated text is read tolerantly: a status is an observation, maybe of
another version of convoy, and must never keep a Release from being read.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from convoy.api.common import ApiModel, ConditionList, Time, one_of_texts

RENDER_REF = r"^sha256:[0-9a-f]{64}$"

WavePhase = Annotated[
    str, one_of_texts("Pending", "Applying", "Applied", "WaitingForHealth", "Healthy", "Failed")
]
RolloutPhase = Annotated[str, one_of_texts("Progressing", "Healthy", "Failed", "RolledBack")]
HookPhase = Annotated[
    str, one_of_texts("Pending", "Running", "Succeeded", "Failed", "Approved", "Superseded")
]


class Handled(ApiModel):
    """What the latest pass has seen, as it began. The watcher compares against it, and so needs no memory."""

    uid: str | None = None
    spec_hash: str | None = None
    sync_requested_at: str | None = None
    """Value of the annotation."""
    sync_force_requested_at: str | None = None
    """Value of the annotation."""
    lower_waves: str | None = None
    """Digest of the conditions of the Releases of lower cluster waves."""
    health: str | None = None
    """Digest of the inventory's health data."""
    deletion_timestamp: str | None = None
    abandon: str | None = None
    """Value of the annotation."""


class ClosedGate(ApiModel):
    """A wave with strategy Health whose turn has not come: the one before it was not healthy when it was looked at."""

    wave: int | None = None
    until: Time | None = None
    """Until when the attempts at this render wait for it, all together."""
    generation: int | None = None
    """metadata.generation of the Release that it is closed for."""


class LastAttempted(ApiModel):
    """The latest sync attempt, whatever came of it."""

    render_ref: str | None = None
    revision: str | None = None
    requested_at: str | None = None
    """The annotation value that the attempt answers."""
    started_at: Time | None = None
    finished_at: Time | None = None
    reason: str | None = None
    message: str | None = None
    trigger: str | None = None
    gate: ClosedGate | None = None
    """The wave that waits, or has waited in vain, for the health of the one before it."""


class LastSuccessful(ApiModel):
    """The latest render that was applied."""

    render_ref: str | None = None
    revision: str | None = None
    applied_at: Time | None = None


class WaveStatus(ApiModel):
    """Progress of a wave."""

    wave: int
    strategy: str | None = None
    phase: WavePhase | None = None
    objects: int | None = None
    applied: int | None = None
    started_at: Time | None = None
    finished_at: Time | None = None


class Rollout(ApiModel):
    """State of the progressive rollout, of a Release with a failurePolicy."""

    phase: RolloutPhase | None = None
    """RolledBack: the last healthy render is the desired one."""
    render_ref: str | None = None
    """The render that is rolled out; Failed and RolledBack: the one that failed."""
    last_healthy_render_ref: str | None = None
    """The render that a rollback goes back to."""
    started_at: Time | None = None
    """From when the healthTimeout counts."""
    message: str | None = None
    """What failed, what is back in its place, and what to do."""
    pinned: bool | None = None
    """It failed under a pin: when the pin goes, it begins anew."""


class HistoryEntry(ApiModel):
    """A render that was applied."""

    render_ref: str
    revision: str | None = None
    applied_at: Time | None = None
    healthy_at: Time | None = None
    """When it was healthy for the first time."""
    trigger: str | None = None
    objects: int | None = None


class HookStatus(ApiModel):
    """The latest run of a hook."""

    name: str
    render_ref: str | None = None
    run: int | None = None
    phase: HookPhase | None = None
    job: str | None = None
    """`namespace/name` of the Job."""
    requested_at: str | None = None
    """The annotation value that the pass which began the run answers."""
    definition: str | None = None
    """Digest of the hook as it was run."""
    started_at: Time | None = None
    finished_at: Time | None = None
    approved_by: str | None = None
    message: str | None = None


class Retry(ApiModel):
    """When the next try is due."""

    failures: int | None = None
    at: Time | None = None


class SyncStatus(ApiModel):
    """Where to look in the Temporal web UI."""

    workflow_id: str | None = None
    run_id: str | None = None
    requested_at: str | None = None
    """The annotation value that the run answers."""
    settled_at: Time | None = None
    """The request has its result, or its wait began."""


class ReleaseStatus(ApiModel):
    """What convoy observed."""

    observed_generation: int | None = None
    conditions: ConditionList = ()
    handled: Handled = Handled()
    last_attempted: LastAttempted | None = None
    last_successful: LastSuccessful | None = None
    last_handled_sync_at: str | None = None
    last_handled_force_sync_at: str | None = None
    waves: Annotated[
        tuple[WaveStatus, ...],
        Field(json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["wave"]}),
    ] = ()
    rollout: Rollout | None = None
    history: tuple[HistoryEntry, ...] = ()
    """Newest first."""
    hooks: Annotated[
        tuple[HookStatus, ...],
        Field(json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}),
    ] = ()
    retry: Retry | None = None
    sync: SyncStatus | None = None
