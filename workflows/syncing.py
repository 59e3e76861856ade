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
    WaveHealth,
    WaveInput,
    WaveResult,
)
from workflows.gates import pass_gate, pass_prune_gate
from workflows.history import history_is_long
from workflows.hooking import run_post_sync, run_pre_sync
from workflows.inbox import Inbox
from workflows.state import Point, Resume, SyncState, Wait
from workflows.steps import limit_for, step
from workflows.telling import Teller


class ReleaseDeleted(Exception):
    """The Release is being deleted: what the waves to come would apply, the teardown would have to delete."""


class Syncing:
    """One pass that applies a render. Raises `StepFailed`, `Waits`, `RenderLost` or `ReleaseDeleted`."""

    def __init__(self, state: SyncState, inbox: Inbox, teller: Teller) -> None:
        self._state = state
        self._inbox = inbox
        self._teller = teller
        self.at: Resume | None = None
        """How far the pass has come; None: it applies nothing."""
        self.only_looks = False
        """It begins behind the apply, at postSync hooks."""
        self.hooks: Wait | None = None
        """The wait for postSync hooks, where the pass has succeeded and some still run."""
        self.health: WaveHealth | None = None
        """What the pass has found out about its last wave."""

    async def run(self, at: Resume) -> Outcome:
        """Make the steps that follow from where the pass stands."""
        self.at, self.only_looks = at, at.point is Point.POST_SYNC
        if at.point is Point.CLAIM:
            await self._before_hooks(at)
        if at.point is Point.PRE_SYNC:
            await self._pre_sync(at)
        if at.point is Point.WAVES:
            await self._apply_waves(at)
        if at.point is Point.PRUNE:
            await self._prune(at)
        return await self._post_sync(at)

    async def reapply(self, plan: Plan) -> Outcome:
        """Make all steps in one activity."""
        self.at = Resume(plan)
        self._teller.enter("Applying")
        result = await step(
            Activity.REAPPLY,
            plan,
            ReapplyResult,
            summary=f"apply the unchanged render again: {counted(plan.objects, 'object')}",
            limit=limit_for(plan.objects * 2),
            fairness_key=plan.cluster,
        )
        self._teller.waves_done = len(plan.waves)
        return _applied(plan, changed=result.changed, pruned=result.pruned)

    async def _before_hooks(self, at: Resume) -> None:
        plan = at.plan
        self._teller.enter("Claiming")
        await step(
            Activity.CLAIM,
            plan,
            ClaimResult,
            summary="record what is about to be applied",
            limit=limit_for(0),
        )
        if not plan.forced:
            self._teller.enter("DryRun")
            dry_run = await step(
                Activity.DRY_RUN,
                plan,
                DryRunResult,
                summary=f"dry run of {counted(plan.objects, 'object')}",
                limit=limit_for(plan.objects),
                fairness_key=plan.cluster,
            )
            at.seen = dry_run.seen
        if plan.store:
            self._teller.enter("Storing")
            await step(
                Activity.STORE_RENDER, plan, type(None), summary="write the render to the render store"
            )
        at.point = Point.PRE_SYNC

    async def _pre_sync(self, at: Resume) -> None:
        if at.plan.pre_sync:
            self._teller.enter("PreSync")
            await run_pre_sync(self._state, at)
        at.point = Point.WAVES

    async def _apply_waves(self, at: Resume) -> None:
        plan, first = at.plan, at.next_wave
        self._teller.enter("Applying")
        for index in range(first, len(plan.waves)):
            self._teller.waves_done = index
            if index > first and history_is_long() and workflow.all_handlers_finished():
                self._state.resume = at
                workflow.continue_as_new(self._state)
            if self._inbox.has(Trigger.DELETED, uid=plan.uid):
                raise ReleaseDeleted
            await pass_gate(self._state, at, index)
            wave = plan.waves[index]
            result = await step(
                Activity.APPLY_WAVE,
                WaveInput(plan=plan, index=index, seen=at.seen),
                WaveResult,
                summary=f"apply wave {wave.wave}: {counted(wave.objects, 'object')}",
                limit=limit_for(wave.objects),
                group=workflow.create_event_group(f"wave {wave.wave}"),
                activity_id=f"{Activity.APPLY_WAVE}-{wave.wave}",
                fairness_key=plan.cluster,
            )
            at.changed += result.changed
            at.in_doubt = at.in_doubt or result.uncounted
            at.next_wave = self._teller.waves_done = index + 1
            self._teller.tell()
        at.point = Point.PRUNE

    async def _prune(self, at: Resume) -> None:
        plan = at.plan
        self.health = await pass_prune_gate(self._state, at)
        if plan.prune:
            self._teller.enter("Pruning")
            result = await step(
                Activity.PRUNE,
                plan,
                PruneResult,
                summary="delete what the render no longer contains",
                limit=timedelta(minutes=30),
                fairness_key=plan.cluster,
            )
            at.pruned = result.deleted
        await step(
            Activity.WRITE_INVENTORY, plan, type(None), summary="write the exact set of applied objects"
        )
        at.point = Point.POST_SYNC

    async def _post_sync(self, at: Resume) -> Outcome:
        note, self.hooks = await run_post_sync(self._state, at)
        return _applied(at.plan, changed=at.changed, pruned=at.pruned, note=note)


def _applied(plan: Plan, *, changed: int, pruned: int, note: str = "") -> Outcome:
    message = f"applied {counted(plan.objects, 'object')} of {plan.revision}"
    if pruned:
        message += f", pruned {pruned}"
    if note:
        message += f"; {note}"
    return Outcome(
        APPLIED,
        message,
        applied=True,
        changed=plan.changed_render or changed > 0 or pruned > 0,
        pruned=pruned,
    )
