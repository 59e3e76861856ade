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
    """UID of the Release."""
    spec_hash: str | None = None
    """Digest of the spec."""
    sync_requested_at: str | None = None
    """Value of the annotation."""
    sync_force_requested_at: str | None = None
    """Value of the annotation."""
    lower_waves: str | None = None
    """Digest of the conditions of the Releases of lower cluster waves."""
    health: str | None = None
    """Digest of the inventory's health data."""
    deletion_timestamp: str | None = None
    """When the deletion was asked for."""
    abandon: str | None = None
    """Value of the annotation."""


class ClosedGate(ApiModel):
    """A wave with strategy Health whose turn has not come: the one before it was not healthy when it was looked at."""

    wave: int | None = None
    """The wave that has to wait."""
    until: Time | None = None
    """Until when the attempts at this render wait for it, all together."""
    generation: int | None = None
    """metadata.generation of the Release that it is closed for."""


class LastAttempted(ApiModel):
    """The latest sync attempt, whatever came of it."""

    render_ref: str | None = None
    """The render."""
    revision: str | None = None
    """Revision of the source that it was made from."""
    requested_at: str | None = None
    """The annotation value that the attempt answers."""
    started_at: Time | None = None
    """When it began."""
    finished_at: Time | None = None
    """When it ended or its wait began; not set while it runs."""
    reason: str | None = None
    """How it ended, as the condition Applied says it."""
    message: str | None = None
    """Why, for a person."""
    trigger: str | None = None
    """What started it."""
    gate: ClosedGate | None = None
    """The wave that waits, or has waited in vain, for the health of the one before it."""


class LastSuccessful(ApiModel):
    """The latest render that was applied."""

    render_ref: str | None = None
    """The render."""
    revision: str | None = None
    """Revision of the source that it was made from."""
    applied_at: Time | None = None
    """When it was applied last."""


class WaveStatus(ApiModel):
    """Progress of a wave."""

    wave: int
    """Number of the wave."""
    strategy: str | None = None
    """Strategy of the wave: Health waits for the wave before."""
    phase: WavePhase | None = None
    """How far it is."""
    objects: int | None = None
    """How many objects it has."""
    applied: int | None = None
    """How many of them are applied."""
    started_at: Time | None = None
    """When its apply began."""
    finished_at: Time | None = None
    """When it was applied, healthy or failed."""


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
    """The render; `pin.renderRef` takes it."""
    revision: str | None = None
    """Revision of the source that it was made from."""
    applied_at: Time | None = None
    """When the sync that brought it applied it; the latest apply is in lastSuccessful."""
    healthy_at: Time | None = None
    """When it was healthy for the first time."""
    trigger: str | None = None
    """What started the sync that brought it."""
    desired: str | None = None
    """Why it was that render and not the source's: `pin`, or `lastHealthy` after a rollback."""
    objects: int | None = None
    """How many objects it has."""


class Unrecorded(HistoryEntry):
    """A render that is applied and whose postSync hooks run."""

    applied_again_at: Time | None = None
    """The latest apply of it, where that is a later one."""


class HookStatus(ApiModel):
    """The latest run of a hook."""

    name: str
    """Name of the hook."""
    render_ref: str | None = None
    """The render that it ran for."""
    run: int | None = None
    """Number of the run."""
    phase: HookPhase | None = None
    """How far it is."""
    job: str | None = None
    """`namespace/name` of the Job."""
    requested_at: str | None = None
    """The annotation value that the pass which began the run answers."""
    definition: str | None = None
    """Digest of the hook as it was run."""
    started_at: Time | None = None
    """When it began."""
    finished_at: Time | None = None
    """When it ended."""
    approved_by: str | None = None
    """Who approved it."""
    message: str | None = None
    """Why it failed."""


class Retry(ApiModel):
    """When the next try is due."""

    failures: int | None = None
    """How many tries have failed in a row."""
    at: Time | None = None
    """When the next one is due."""


class SyncStatus(ApiModel):
    """Where to look in the Temporal web UI."""

    workflow_id: str | None = None
    """Id of the workflow."""
    run_id: str | None = None
    """Id of its latest run."""
    requested_at: str | None = None
    """The annotation value that the run answers."""
    settled_at: Time | None = None
    """The request has its result, or its wait began."""


class ReleaseStatus(ApiModel):
    """What convoy observed."""

    observed_generation: int | None = None
    """metadata.generation that the latest reconcile has read."""
    conditions: ConditionList = ()
    """Applied, InSync, Healthy, Ready, Reconciling and Stalled."""
    handled: Handled = Handled()
    last_attempted: LastAttempted | None = None
    last_successful: LastSuccessful | None = None
    unrecorded: Unrecorded | None = None
    """What is applied while its postSync hooks run: at their end it is recorded in lastSuccessful and the history."""
    last_handled_sync_at: str | None = None
    """The latest /sync request that was applied."""
    last_handled_force_sync_at: str | None = None
    """The latest force request that was used up."""
    waves: Annotated[
        tuple[WaveStatus, ...],
        Field(json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["wave"]}),
    ] = ()
    """Progress of the latest sync, wave by wave."""
    rollout: Rollout | None = None
    history: tuple[HistoryEntry, ...] = ()
    """Newest first."""
    hooks: Annotated[
        tuple[HookStatus, ...],
        Field(json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}),
    ] = ()
    """The latest run of each hook."""
    retry: Retry | None = None
    sync: SyncStatus | None = None

    @property
    def renders(self) -> tuple[HistoryEntry, ...]:
        """The renders that were applied, newest first, recorded or not."""
        return (self.unrecorded, *self.history) if self.unrecorded is not None else self.history

    @property
    def applied_render_ref(self) -> str:
        """The render that was applied last, recorded or not; empty where none was."""
        latest = self.unrecorded or self.last_successful
        return (latest.render_ref or "") if latest is not None else ""

    @property
    def applied_at(self) -> str:
        """When it was applied the last time; empty where none was."""
        if self.unrecorded is not None:
            return self.unrecorded.applied_again_at or self.unrecorded.applied_at or ""
        return (self.last_successful.applied_at or "") if self.last_successful is not None else ""
