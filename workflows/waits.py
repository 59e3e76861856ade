"""What becomes of a wait when something comes in: it goes on, it is made again, or it is over (D25)."""

from __future__ import annotations

from dataclasses import replace

from temporalio import workflow

from convoy.api.errors import Transient, error_classes
from convoy.api.names import APPLIED
from convoy.policy.trigger import Trigger
from workflows.contract import HookRun, Outcome, Plan
from workflows.state import Point, Resume, Wait

BLIPS = "a wait survives a blip"
"""Patch: before it, whatever failed inside a pass ended the wait, and at the time of a look any failure did."""

NEWS = "news end a wait"
"""Patch: before it a wait outlived a force, or a changed spec, whose pass failed; and a force its own pass."""

_OF_HOOKS = (Point.PRE_SYNC, Point.POST_SYNC)
_ENDS = (Trigger.CREATED, Trigger.SPEC_CHANGED)
"""What ends a wait though the render is the same."""


def is_same(wait: Wait, plan: Plan) -> bool:
    """Return whether a pass over this plan is about what is waited for, and not about something newer."""
    before = wait.at.plan
    return (plan.uid, plan.render_ref) == (before.uid, before.render_ref) and not _is_newer(before, plan)


def _is_newer(before: Plan, plan: Plan) -> bool:
    """Return whether a force or another spec ends a wait, though the render be the same or cannot be told.

    The spec is compared too: of a pass whose first attempt died the trigger tells that alone.
    """
    is_other_spec = "" not in (before.spec_hash, plan.spec_hash) and before.spec_hash != plan.spec_hash
    return plan.forced or plan.trigger in _ENDS or is_other_spec


def gone_on(wait: Wait, plan: Plan) -> Resume:
    """Return where a pass goes on that finds the wait over: the attempt is the same, the request may be a later one.

    While postSync hooks run the attempt has its result already, and the pass is a reconcile of its own.
    """
    at = wait.at
    if at.point is Point.POST_SYNC:
        runs = _changed_runs(at.plan.post_sync, plan.post_sync)
        return replace(at, plan=replace(plan, post_sync=runs), changed=0, pruned=0)
    # `run_id`: the run may have continued as new since, and `status.sync` tells of the latest.
    latest = replace(
        at.plan,
        requested_at=plan.requested_at,
        generation=plan.generation,
        run_id=plan.run_id,
        pre_sync=_changed_runs(at.plan.pre_sync, plan.pre_sync),
        post_sync=_changed_runs(at.plan.post_sync, plan.post_sync),
    )
    return replace(at, plan=latest)


def made_again(wait: Wait, plan: Plan) -> Resume:
    """Return where a pass begins that applies the finished waves again; deadline and hook runs stay."""
    at, before = wait.at, wait.at.plan
    post_sync = _kept_runs(before.post_sync, plan.post_sync)
    if at.point is Point.POST_SYNC:
        return Resume(replace(plan, post_sync=post_sync), point=Point.CLAIM)
    plan = replace(
        plan,
        trigger=before.trigger,
        started_at=before.started_at,
        # A force has effect for one reconcile (`reference/sync-policy`, Forced sync): this one is another.
        force_requested_at="" if workflow.patched(NEWS) else before.force_requested_at,
        failed_gate=before.failed_gate,
        closed_until=before.closed_until,
        pre_sync=_kept_runs(before.pre_sync, plan.pre_sync),
        post_sync=post_sync,
    )
    return Resume(
        plan,
        point=Point.CLAIM,
        changed=at.changed,
        in_doubt=at.in_doubt,
        gate=at.gate,
        deadline=at.deadline,
    )


def has_touched(at: Resume | None) -> bool:
    """Return whether a pass may have applied anything: until its preSync hooks are done a wait is what it was."""
    if at is None:
        return False
    return at.point not in (Point.CLAIM, Point.PRE_SYNC) or not workflow.patched(BLIPS)


def survives(wait: Wait, plan: Plan, outcome: Outcome, *, now: float) -> Wait | None:
    """Return what a pass that applied nothing leaves of the wait.

    It leaves it where it failed for a passing reason, so that an unreachable source does not extend a deadline, and
    where it only reported that the render is applied; unless the pass was about something newer. The deadline of a gate
    ends its wait all the same. Hooks have theirs on the cluster: of their wait it says when to look again, and behind a
    failure the retry does.
    """
    error, over = error_classes().get(outcome.reason), bool(wait.deadline) and now >= wait.deadline
    if over and (wait.at.point not in _OF_HOOKS or not workflow.patched(BLIPS)):
        return None
    if error is None:
        return wait if outcome.reason == APPLIED and is_same(wait, plan) else None
    if not issubclass(error, Transient) or (_is_newer(wait.at.plan, plan) and workflow.patched(NEWS)):
        return None
    return replace(wait, deadline=0.0) if over else wait


def _kept_runs(before: tuple[HookRun, ...], now: tuple[HookRun, ...]) -> tuple[HookRun, ...]:
    """Return the hooks that are due now with the numbers that their runs have in this attempt (D27).

    A hook that was changed since is another run.
    """
    runs = {(hook.name, hook.definition): hook.run for hook in before}
    return tuple(replace(hook, run=runs.get((hook.name, hook.definition), hook.run)) for hook in now)


def _changed_runs(before: tuple[HookRun, ...], now: tuple[HookRun, ...]) -> tuple[HookRun, ...]:
    """Return the runs of this attempt, and of a hook that was changed since the one that is due now (D27)."""
    due = {hook.name: hook for hook in now}
    latest = (due.get(hook.name, hook) for hook in before)
    return tuple(
        new if new.definition != hook.definition else hook for hook, new in zip(before, latest, strict=True)
    )
