"""The steps of a sync in their order (`reference/apply-and-prune`); if one fails or waits, none after it runs."""

from __future__ import annotations

from datetime import timedelta

from temporalio import workflow

from convoy.api.names import APPLIED
from convoy.api.objects import counted
from convoy.policy.trigger import Trigger
from workflows.contract import (
    Activity,
    ClaimResult,
    DryRunResult,
    Outcome,
    Plan,
    PruneResult,
    ReapplyResult,
    WaveInput,
    WaveResult,
)
from workflows.history import history_is_long
from workflows.inbox import Inbox
from workflows.state import Resume, SyncState
from workflows.steps import step
from workflows.telling import Teller


class ReleaseDeleted(Exception):
    """The Release is being deleted: what the waves to come would apply, the teardown would have to delete."""


class Syncing:
    """One pass that applies a render. Raises `StepFailed`, `RenderLost` or `ReleaseDeleted`."""

    def __init__(self, state: SyncState, inbox: Inbox, teller: Teller) -> None:
        self._state = state
        self._inbox = inbox
        self._teller = teller
        self.planned_at = ""
        """What `record` takes back where nothing was applied (D13)."""

    async def run(self, plan: Plan) -> Outcome:
        """Make all steps of the plan."""
        seen = await self._before_apply(plan)
        return await self._go_on(Resume(plan=plan, next_wave=0, seen=seen, changed=0))

    async def resume(self, at: Resume) -> Outcome:
        """Go on where the run before this one continued as new."""
        return await self._go_on(at)

    async def reapply(self, plan: Plan) -> Outcome:
        """Make all steps in one activity."""
        self._teller.enter("Applying")
        result = await step(
            Activity.REAPPLY,
            plan,
            ReapplyResult,
            summary=f"apply the unchanged render again: {counted(plan.objects, 'object')}",
            limit=_limit(plan.objects * 2),
            fairness_key=plan.cluster,
        )
        self._teller.waves_done = len(plan.waves)
        return _applied(plan, changed=result.changed, pruned=result.pruned)

    async def _before_apply(self, plan: Plan) -> str:
        self._teller.enter("Claiming")
        claimed = await step(
            Activity.CLAIM, plan, ClaimResult, summary="record what is about to be applied", limit=_limit(0)
        )
        self.planned_at = claimed.planned_at
        seen = ""
        if not plan.forced:
            self._teller.enter("DryRun")
            dry_run = await step(
                Activity.DRY_RUN,
                plan,
                DryRunResult,
                summary=f"dry run of {counted(plan.objects, 'object')}",
                limit=_limit(plan.objects),
                fairness_key=plan.cluster,
            )
            seen = dry_run.seen
        if plan.store:
            self._teller.enter("Storing")
            await step(
                Activity.STORE_RENDER, plan, type(None), summary="write the render to the render store"
            )
        return seen

    async def _go_on(self, at: Resume) -> Outcome:
        await self._apply_waves(at)
        return await self._after_apply(at.plan, at.changed)

    async def _apply_waves(self, at: Resume) -> None:
        plan, first = at.plan, at.next_wave
        self._teller.enter("Applying")
        self.planned_at = ""
        for index in range(first, len(plan.waves)):
            self._teller.waves_done = index
            if index > first and history_is_long() and workflow.all_handlers_finished():
                self._state.resume = at
                workflow.continue_as_new(self._state)
            if self._inbox.has(Trigger.DELETED):
                raise ReleaseDeleted
            wave = plan.waves[index]
            result = await step(
                Activity.APPLY_WAVE,
                WaveInput(plan=plan, index=index, seen=at.seen),
                WaveResult,
                summary=f"apply wave {wave.wave}: {counted(wave.objects, 'object')}",
                limit=_limit(wave.objects),
                group=workflow.create_event_group(f"wave {wave.wave}"),
                activity_id=f"{Activity.APPLY_WAVE}-{wave.wave}",
                fairness_key=plan.cluster,
            )
            at.changed += result.changed
            at.next_wave = self._teller.waves_done = index + 1
            self._teller.tell()

    async def _after_apply(self, plan: Plan, changed: int) -> Outcome:
        pruned = 0
        if plan.prune:
            self._teller.enter("Pruning")
            pruned = (
                await step(
                    Activity.PRUNE,
                    plan,
                    PruneResult,
                    summary="delete what the render no longer contains",
                    limit=timedelta(minutes=30),
                    fairness_key=plan.cluster,
                )
            ).deleted
        await step(
            Activity.WRITE_INVENTORY, plan, type(None), summary="write the exact set of applied objects"
        )
        return _applied(plan, changed=changed, pruned=pruned)


def _applied(plan: Plan, *, changed: int, pruned: int) -> Outcome:
    message = f"applied {counted(plan.objects, 'object')} of {plan.revision}" + (
        f", pruned {pruned}" if pruned else ""
    )
    return Outcome(
        APPLIED,
        message,
        applied=True,
        changed=plan.changed_render or changed > 0 or pruned > 0,
        pruned=pruned,
    )


def _limit(objects: int) -> timedelta:
    """How long one attempt of a step over so many objects may take: far above what it needs."""
    return timedelta(minutes=5) + timedelta(seconds=2) * objects
