"""One pass of a Sync: resolve, decide, make the steps, write the result (design 03, Reconcile)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from temporalio import workflow

from convoy.api.errors import DeployFailed, WaitingForOwner
from convoy.api.names import APPLIED
from convoy.policy.trigger import LOOKS, Trigger
from workflows.answers import Answers
from workflows.contract import (
    Activity,
    AskSync,
    Decision,
    Outcome,
    Plan,
    Recorded,
    RecordInput,
    Resolved,
    ResolveInput,
    Settled,
    SyncRequest,
    WaveHealth,
)
from workflows.inbox import Inbox
from workflows.state import Point, Resume, SyncState, Wait
from workflows.steps import RenderLost, StepFailed, Waits, step
from workflows.syncing import ReleaseDeleted, Syncing
from workflows.telling import Teller
from workflows.waits import gone_on, has_touched, is_same, made_again, survives

NOTHING = "Nothing"
DELETED = "Deleted"
RENDER_ATTEMPTS = 3


class Reconcile:
    """Makes the passes of a run, one after the other."""

    def __init__(self, state: SyncState, inbox: Inbox, answers: Answers, teller: Teller) -> None:
        self._state = state
        self._inbox = inbox
        self._answers = answers
        self._teller = teller
        self.woken = ""
        """UID of the Release whose owner let go while the pass ran."""

    async def run(self, requests: tuple[SyncRequest, ...], resume: Resume | None = None) -> None:
        """Make the pass that answers these requests, or go on with the one that continued as new."""
        self.woken = ""
        attempted = resume is not None
        wait: Wait | None = None
        health: WaveHealth | None = None
        syncing = Syncing(self._state, self._inbox, self._teller)
        try:
            if resume is not None:
                self._teller.begin(resume.plan)
                outcome = await syncing.run(resume)
            else:
                resolved = await self._resolve(requests)
                if resolved.decision is Decision.NOTHING:
                    self._settle_nothing(resolved, requests[0].trigger)
                    return
                attempted = resolved.decision in (Decision.APPLY, Decision.REAPPLY)
                self._teller.begin(resolved.plan)
                outcome = await self._carry_out(resolved, syncing)
            wait, health = syncing.hooks, syncing.health
        except StepFailed as error:
            changed = syncing.at is not None and syncing.at.changed > 0
            outcome = Outcome(error.reason, error.message, changed=changed, note=error.note)
            health = error.health
            if isinstance(error, Waits) and syncing.at is not None:
                wait = Wait(syncing.at, error.deadline, error.awaits)
        except ReleaseDeleted:
            return  # nothing more is applied: the request that told of the deletion makes the teardown
        except RenderLost as error:
            self._state.lost += 1
            if self._state.lost < RENDER_ATTEMPTS:
                self._inbox.append(SyncRequest(trigger=Trigger.RESTARTED, uid=self._teller.plan.uid))
                return
            outcome = Outcome(DeployFailed.reason, f"the render disappears from the working store: {error}")
        self._state.lost = 0
        if outcome.reason == DELETED:
            self._state.waiting = ""
            self._settle(outcome, "")
            return
        before = self._state.wait
        if wait is None and before is not None and not has_touched(syncing.at):
            wait = survives(before, self._teller.plan, outcome, now=workflow.time())
        result = RecordInput(
            syncing.at.plan if syncing.at is not None else self._teller.plan,
            outcome,
            attempted=attempted,
            health=health,
            post_sync_runs=wait is not None and wait.at.point is Point.POST_SYNC,
            only_looked=syncing.only_looks,
        )
        await self._record(result, wait)

    # --- resolve ---------------------------------------------------------------------------------

    async def _resolve(self, requests: tuple[SyncRequest, ...]) -> Resolved:
        self._teller.enter("Resolving")
        try:
            for request in requests:
                if request.trigger is Trigger.MANUAL:
                    await self._write_down(request)
            return await step(
                Activity.RESOLVE,
                ResolveInput(
                    requests=requests, delay_ms=min((request.delay_ms for request in requests), default=0)
                ),
                Resolved,
                summary="read the Release, render it, decide",
                limit=timedelta(minutes=10),
            )
        except StepFailed:
            # There is no plan, so the result is written to whichever Release was asked for.
            uid = next((request.uid for request in requests if request.uid), "")
            self._teller.begin(Plan(uid=uid, trigger=requests[0].trigger))
            raise

    async def _write_down(self, request: SyncRequest) -> None:
        """Turn a request typed by hand into a /sync request, so that Kubernetes shows it."""
        annotation = await step(
            Activity.ASK_SYNC,
            AskSync(
                uid=request.uid, trigger=Trigger.MANUAL, annotate=True, force=request.force, signal=False
            ),
            str,
            summary="write the /sync request to the Release",
        )
        if annotation:  # else the Release is gone
            self._inbox.answered(annotation)

    # --- decide ----------------------------------------------------------------------------------

    async def _carry_out(self, resolved: Resolved, syncing: Syncing) -> Outcome:
        plan, wait = resolved.plan, self._state.wait
        # Every other pass applies the finished waves again.
        goes_on = wait is not None and is_same(wait, plan) and plan.trigger in LOOKS
        match resolved.decision:
            case Decision.STOP:
                applied = resolved.reason == APPLIED
                if wait is not None and goes_on and applied and wait.at.point is Point.POST_SYNC:
                    return await self._make_steps(syncing, gone_on(wait, plan))
                if applied and plan.unrecorded and (wait is None or not is_same(wait, plan)):
                    # Manual mode: no sync follows by itself that would go on with the hooks of what is applied.
                    return await self._make_steps(syncing, Resume(plan, point=Point.POST_SYNC))
                return Outcome(resolved.reason, resolved.message, applied=applied)
            case Decision.TEARDOWN:
                self._end_wait("")
                self._teller.enter("TearingDown")
                message = await step(
                    Activity.TEARDOWN,
                    plan,
                    str,
                    summary="delete or orphan what was applied",
                    limit=timedelta(hours=1),
                )
                return Outcome(DELETED, message)
        if wait is not None and goes_on:
            return await self._make_steps(syncing, gone_on(wait, plan))
        if resolved.decision is Decision.REAPPLY:
            return await syncing.reapply(plan)
        if wait is not None and is_same(wait, plan):
            return await self._make_steps(syncing, made_again(wait, plan))
        self._end_wait(plan.render_ref)
        return await self._make_steps(syncing, Resume(plan, point=Point.CLAIM))

    async def _make_steps(self, syncing: Syncing, at: Resume) -> Outcome:
        self._teller.begin(at.plan, at.next_wave)
        return await syncing.run(at)

    def _end_wait(self, render_ref: str) -> None:
        """Something newer is applied. What people have approved counts for the render that they have seen."""
        self._state.wait = None
        if self._state.approved_ref != render_ref:
            self._state.approvals = []

    # --- the result ------------------------------------------------------------------------------

    async def _record(self, done: RecordInput, wait: Wait | None) -> None:
        outcome, uid = done.outcome, done.plan.uid
        self._teller.enter("Recording", outcome.reason, outcome.message)
        self._state.waiting = uid if outcome.reason == WaitingForOwner.reason else ""
        self._state.wait = wait
        status = ""
        try:
            status = (
                await step(
                    Activity.RECORD,
                    done,
                    Recorded,
                    summary=f"write the result to the Release: {outcome.reason}",
                    limit=timedelta(minutes=5),
                )
            ).status
        except (StepFailed, RenderLost) as error:
            # Nobody is told, so nobody would end a wait: the run closes, and the next tick tries again.
            self._state.waiting, self._state.wait = "", None
            message = f"{outcome.reason} ({outcome.message}), but the result could not be written: {error}"
            outcome = replace(outcome, reason=DeployFailed.reason, message=message, applied=False)
        self._settle(outcome, status)
        if self._state.waiting and self.woken == self._state.waiting:
            self._inbox.append(SyncRequest(trigger=Trigger.OWNER_CHANGED, uid=self.woken))

    def _settle(self, outcome: Outcome, status: str) -> None:
        """Answer everyone who waits for this pass."""
        plan = self._teller.plan
        self._state.result = Settled(
            requested_at=plan.requested_at,
            status=status,
            reason=outcome.reason,
            message=outcome.message,
            render_ref=plan.render_ref,
            changed=outcome.changed,
        )
        self._answers.give(self._state.result)
        self._teller.rest()

    def _settle_nothing(self, resolved: Resolved, trigger: Trigger) -> None:
        """Nothing was due. What an earlier pass of this run came to stays the run's result."""
        uid, nothing = resolved.plan.uid, Settled(reason=NOTHING, message=resolved.message)
        self._answers.give(nothing)
        if uid != self._state.waiting:
            self._state.waiting = ""  # the Release that waited is gone
        if self._state.wait is not None and uid != self._state.wait.at.plan.uid:
            self._state.wait = None
        if self._state.result.reason == NOTHING:
            self._teller.plan, self._state.result = Plan(uid=uid, trigger=trigger), nothing
        self._teller.rest()
