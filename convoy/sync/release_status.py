"""What a sync writes into a Release's status, as pure functions on its tree.

Server-side apply drops what a manager no longer sends, so each function returns the full set of its manager: all that
`convoy` owns, or all that `convoy-progress` owns (design 02, Status writers).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from convoy.api.conditions import (
    cut_message,
    find_condition,
    replace_condition,
    summary_conditions,
    with_condition,
)
from convoy.api.errors import WaitingForSync
from convoy.api.names import APPLIED, READY, RECONCILING, STALLED
from convoy.api.objects import Manifest
from convoy.api.release_status import ReleaseStatus, Rollout
from convoy.api.times import format_time
from convoy.health.observed import NOT_HEALTHY, HealthyRender
from convoy.health.rollout import RolloutPhase
from convoy.sync.attempt import Attempt
from convoy.sync.history import make_way, recorded, with_applied, with_health

_OWN = (
    "observedGeneration",
    "lastAttempted",
    "lastSuccessful",
    "unrecorded",
    "lastHandledSyncAt",
    "lastHandledForceSyncAt",
    "history",
    "rollout",
    "handled",
    "sync",
)
_CONDITIONS = (APPLIED, READY, RECONCILING, STALLED)

_BEGUN = ("Applying", "Applied", "WaitingForHealth")
_BEFORE: Mapping[str, tuple[str, ...]] = {
    "Pending": (),
    "Applying": ("Applying",),
    "Applied": ("Applying", "Applied"),
    "WaitingForHealth": _BEGUN,
    "Healthy": (*_BEGUN, "Healthy"),
    "Failed": (*_BEGUN, "Failed"),
}
"""Which phase a wave had before, if it has been in this one since it was started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How a pass ended."""

    reason: str
    message: str
    applied: bool
    """Whether the render is on the cluster: the Applied condition is True."""
    attempted: Attempt | None = None
    """The attempt, if step 1 of the eight began: lastAttempted changes, and what it applied is recorded."""
    only_looked: bool = False
    """Whether a pass before has applied the render, and this one has looked at its postSync hooks and no more."""
    has_hooks: bool = False
    """Whether postSync hooks run, at whose end the applied render is recorded."""
    handled_sync_at: str = ""
    """After a success: the annotation value read when the pass began (D22)."""
    handled_force_at: str = ""
    """The force request that this pass used up, whatever its result (D24)."""
    health: str = ""
    """Digest of the health data that the pass itself wrote: no news to it any more."""
    healthy_at: str = ""
    """When the render that it applied was healthy for the first time, if it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaveProgress:
    """How far a sync is: waves before `index` are applied, those after it are pending."""

    index: int
    phase: str
    applied: int = 0


def begun(
    tree: Manifest,
    *,
    handled: Mapping[str, Any],
    workflow_id: str,
    run_id: str,
    now: datetime,
    healthy: HealthyRender = NOT_HEALTHY,
) -> Manifest:
    """Return the status as a pass begins: what it has seen, and where to look in the web UI.

    The history remembers when the render that is applied became healthy.
    Ready becomes Unknown where the generation is a new one: what kstatus reads must not say that all is well before
    the first look at it. Applied stays as it is.
    """
    own = own_status(tree)
    own["conditions"] = _own_conditions(tree, own, now=now)
    own["handled"] = dict(handled)
    own["sync"] = {"workflowId": workflow_id, "runId": run_id}
    if handled.get("syncRequestedAt"):
        own["sync"]["requestedAt"] = handled["syncRequestedAt"]
    return with_health(own, healthy.ref, healthy.at or format_time(now)) if healthy.ref else own


def rolled_out(tree: Manifest, own: Manifest, rollout: Rollout | None, *, now: datetime) -> Manifest:
    """Return the status `own` of the Release `tree` with this rollout in it (D28), None for none.

    The history remembers when it became healthy, and Ready tells of one that has failed.
    """
    rest = {name: value for name, value in own.items() if name != "rollout"}
    if rollout is not None:
        rest["rollout"] = rollout.tree()
        if rollout.phase == RolloutPhase.HEALTHY:
            rest = with_health(rest, rollout.render_ref or "", format_time(now))
    return rest | {"conditions": _own_conditions(tree, rest, now=now)}


def attempting(tree: Manifest, attempt: Attempt) -> Manifest:
    """Return the status as step 1 of the eight begins: `lastAttempted` without a result."""
    return make_way(tree, own_status(tree), attempt.render_ref) | {"lastAttempted": attempt.tree()}


def settled(tree: Manifest, result: Result, *, generation: int, now: datetime) -> Manifest:
    """Return the status at the end of a pass (`reference/apply-and-prune`, Status).

    `generation` is the one that the pass has read: a later one is not reconciled yet.
    """
    own = own_status(tree)
    time = format_time(now)
    own["observedGeneration"] = generation
    if result.attempted is not None:
        own["lastAttempted"] = result.attempted.tree() | {
            "finishedAt": time,
            "reason": result.reason,
            "message": cut_message(result.message),
        }
        looked = result.only_looked and applied_ref({"status": own}) == result.attempted.render_ref
        if result.applied and not looked:
            own = with_applied(tree, own, result.attempted, time=time)
        if result.applied and result.healthy_at:
            own = with_health(own, result.attempted.render_ref, result.healthy_at)
    if not result.has_hooks and (result.applied or result.reason == WaitingForSync.reason):
        own = recorded(tree, own)
    if result.handled_sync_at:
        own["lastHandledSyncAt"] = result.handled_sync_at
    if result.handled_force_at:
        own["lastHandledForceSyncAt"] = result.handled_force_at
    if result.health:
        own["handled"] = {**own.get("handled", {}), "health": result.health}
    own["sync"] = {**own.get("sync", {}), "settledAt": time}
    own["conditions"] = _conditions(
        tree,
        own,
        status="True" if result.applied else "False",
        reason=result.reason,
        message=result.message,
        generation=generation,
        now=now,
    )
    return own


def reported(
    tree: Manifest, *, status: str, reason: str, message: str, generation: int, now: datetime
) -> Manifest:
    """Return the status where a reconcile applied nothing and only says how things stand."""
    own = own_status(tree)
    own["observedGeneration"] = generation
    own["conditions"] = _conditions(
        tree, own, status=status, reason=reason, message=message, generation=generation, now=now
    )
    return own


def _conditions(
    tree: Manifest, own: Manifest, *, status: str, reason: str, message: str, generation: int, now: datetime
) -> list[Manifest]:
    applied = with_condition(
        (tree.get("status") or {}).get("conditions"),
        type=APPLIED,
        status=status,
        reason=reason,
        message=message,
        generation=generation,
        now=now,
    )
    return _own_conditions(tree, own | {"conditions": [applied]}, now=now)


def _own_conditions(tree: Manifest, own: Manifest, *, now: datetime) -> list[Manifest]:
    """Return Applied as `own` has it, if it has, and the summary of it, of its rollout and of others' conditions."""
    conditions = (tree.get("status") or {}).get("conditions")
    applied = find_condition(own.get("conditions"), APPLIED)
    kept = [dict(applied)] if applied is not None else []
    for condition in kept:
        conditions = replace_condition(conditions, condition)
    summary = summary_conditions(
        conditions, rollout=own.get("rollout"), generation=tree["metadata"].get("generation", 0), now=now
    )
    return [*kept, *summary]


def waves_at(
    before: Sequence[Mapping[str, Any]],
    plan: Sequence[tuple[int, int]],
    now_at: WaveProgress,
    *,
    time: str,
    strategies: Mapping[int, str] | None = None,
) -> list[Manifest]:
    """Return `status.waves` for a plan of (wave, objects); times of what does not change stay.

    `strategies` are those of `spec.syncWaves`. A wave is Healthy once one with strategy Health has begun behind it.
    """
    known = {wave["wave"]: wave for wave in before}
    strategies = strategies or {}
    waves: list[Manifest] = []
    for index, (number, objects) in enumerate(plan):
        old = known.get(number, {})
        if index < now_at.index:
            gated = index + 1 < len(plan) and strategies.get(plan[index + 1][0]) == "Health"
            phase, applied = "Healthy" if gated else "Applied", objects
        elif index == now_at.index:
            phase, applied = now_at.phase, now_at.applied
        else:
            phase, applied = "Pending", 0
        wave: Manifest = {
            "wave": number,
            "strategy": strategies.get(number, "Apply"),
            "phase": phase,
            "objects": objects,
            "applied": applied,
        }
        started = old.get("startedAt") if old.get("phase") in _BEFORE[phase] else None
        if phase != "Pending":
            wave["startedAt"] = started or time
        if phase in ("Applied", "Healthy", "Failed"):
            wave["finishedAt"] = (old.get("finishedAt") if old.get("phase") == phase else None) or time
        waves.append(wave)
    return waves


def progress(tree: Manifest, waves: Sequence[Mapping[str, Any]]) -> Manifest:
    """Return the full set of `convoy-progress`: the waves, and the hooks as they stand."""
    hooks = tree.get("status", {}).get("hooks")
    return {"waves": [dict(wave) for wave in waves]} | ({"hooks": hooks} if hooks else {})


def applied_ref(tree: Manifest) -> str:
    """Return the ref of the render that was applied last; empty where none was. The spec may be a broken one."""
    status = tree.get("status") or {}
    told = {name: status[name] for name in ("lastSuccessful", "unrecorded") if name in status}
    return ReleaseStatus.model_validate(told).applied_render_ref


def attempted_ref(tree: Manifest) -> str:
    """Return the ref of the render that was attempted last; empty where none was."""
    return ((tree.get("status") or {}).get("lastAttempted") or {}).get("renderRef") or ""


def own_status(tree: Manifest) -> Manifest:
    """Return the full set of `convoy` as it stands."""
    status = tree.get("status") or {}
    own = {name: status[name] for name in _OWN if name in status}
    conditions = [c for c in status.get("conditions") or () if c.get("type") in _CONDITIONS]
    return own | ({"conditions": conditions} if conditions else {})
