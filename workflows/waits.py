"""What becomes of a wait when something comes in: it goes on, it is made again, or it is over (D25)."""

from __future__ import annotations

from dataclasses import replace

from convoy.api.errors import Transient, error_classes, is_reason_of
from convoy.api.names import APPLIED
from convoy.policy.trigger import Trigger
from workflows.contract import HookRun, Outcome, Plan
from workflows.state import Point, Resume, Wait

_ENDS = (Trigger.CREATED, Trigger.SPEC_CHANGED)
"""What ends a wait though the render is the same."""


def is_same(wait: Wait, plan: Plan) -> bool:
    """Return whether a pass over this plan is about what is waited for, and not about something newer."""
    before = wait.at.plan
    return (
        (plan.uid, plan.render_ref) == (before.uid, before.render_ref)
        and not plan.forced
        and plan.trigger not in _ENDS
    )


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
        force_requested_at=before.force_requested_at,
        pre_sync=_kept_runs(before.pre_sync, plan.pre_sync),
        post_sync=post_sync,
    )
    return Resume(
        plan,
        point=Point.CLAIM,
        changed=at.changed,
        gate=at.gate,
        deadline=at.deadline,
    )


def survives(wait: Wait, plan: Plan, outcome: Outcome, *, now: float) -> bool:
    """Return whether a pass that applied nothing leaves the wait as it is.

    It does where the pass failed for a passing reason, so that an unreachable source does not extend a deadline, and
    where it only reported that the render is applied.
    """
    if wait.deadline and now >= wait.deadline:
        return False
    error = error_classes().get(outcome.reason)
    if error is not None:
        return issubclass(error, Transient)
    return outcome.reason == APPLIED and is_same(wait, plan)


def is_tried_again(wait: Wait, outcome: Outcome) -> bool:
    """Return whether a wait that is due is kept, since the pass could not look whether it is over.

    The sync of postSync hooks has its result; if the run closed, in manual mode nobody would see to them.
    """
    return wait.at.point is Point.POST_SYNC and is_reason_of(outcome.reason, Transient)


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
