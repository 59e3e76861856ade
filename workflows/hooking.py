"""Lifecycle hooks in a sync: those before the first wave stop it, those after the prune do not (D27)."""

from __future__ import annotations

from temporalio import workflow

from convoy.api.errors import Transient, is_reason_of
from convoy.api.hooks import HookStage
from workflows.contract import Activity, Approved, ApproveInput, HookRun, HooksAnswer, HooksInput, Plan
from workflows.state import Resume, SyncState, Wait
from workflows.steps import StepFailed, Waits, step

AGAIN_SECONDS = 30.0
"""When postSync hooks are tried again that could not be looked at."""

POST_SYNC_GOES_ON = "post-sync-goes-on"
"""Patch: runs from before closed there."""


async def run_pre_sync(state: SyncState, at: Resume) -> None:
    """Bring the preSync hooks to their end. Raises `StepFailed` (HookFailed), and `Waits` where some still run."""
    answer = await _run(state, at.plan, HookStage.PRE_SYNC)
    if not answer.done:
        raise Waits(answer.reason, answer.message, deadline=answer.deadline, awaits=answer.awaits)


async def run_post_sync(state: SyncState, at: Resume) -> tuple[str, Wait | None]:
    """Bring the postSync hooks as far as they go; returns what there is to say, and the wait for those that run.

    Nothing of it changes the sync's result, a step that fails included. It is tried again by the same run: in manual
    mode nobody else would, and whoever is asked for an approval has to find somebody who takes it.
    """
    if not at.plan.post_sync:
        return "", None
    try:
        answer = await _run(state, at.plan, HookStage.POST_SYNC)
    except StepFailed as error:
        note = f"postSync hooks: {error}"
        if not is_reason_of(error.reason, Transient) or not workflow.patched(POST_SYNC_GOES_ON):
            return note, None
        awaits = state.wait.awaits if state.wait is not None else ()
        return note, Wait(at, workflow.time() + AGAIN_SECONDS, awaits)
    note = f"postSync hooks: {answer.message}" if answer.message else ""
    return note, None if answer.done else Wait(at, answer.deadline, answer.awaits)


async def write_approval(plan: Plan, approved: Approved) -> str:
    """Write down who lets a hook go on; return why that does not count, if so."""
    runs = {run.name: run for run in (*plan.pre_sync, *plan.post_sync)}
    run = runs.get(approved.hook, HookRun(approved.hook, 0))
    try:
        return await step(
            Activity.APPROVE_HOOK,
            ApproveInput(plan.uid, plan.render_ref, run, approved),
            str,
            summary=f"write down that {approved.by} approves hook {approved.hook}",
            activity_id=f"{Activity.APPROVE_HOOK}-{approved.hook}",
        )
    except StepFailed as error:
        return f"the approval of hook {approved.hook} could not be written down: {error}"


async def _run(state: SyncState, plan: Plan, stage: HookStage) -> HooksAnswer:
    due = {hook.name for hook in plan.runs(stage)}
    approvals = tuple(approved for approved in state.approvals if approved.hook in due)
    answer = await step(
        Activity.RUN_HOOKS,
        HooksInput(plan, stage, approvals),
        HooksAnswer,
        summary=f"{stage} hooks: create what is due, take the results",
        activity_id=f"{Activity.RUN_HOOKS}-{stage}",
        group=workflow.create_event_group(f"{stage} hooks"),
        fairness_key=plan.cluster,
    )
    # They stand in status.hooks now. An approval is for one run of a hook and must not be taken for the next.
    state.approvals = [approved for approved in state.approvals if approved not in approvals]
    return answer
