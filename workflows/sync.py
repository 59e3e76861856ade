"""The Sync workflow: one run is one attempt to bring a Release's render to its cluster.

Its id is the lock: two syncs of one Release cannot run at once. It takes the requests that wait, makes a pass, takes
what came in meanwhile, and closes: Completed, or Failed with the condition's reason as the failure's type. The steps
of a pass are in `workflows.syncing`.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from convoy.api.errors import DeployFailed, Hold, WaitingForOwner, error_classes
    from convoy.api.names import APPLIED
    from convoy.policy.trigger import Trigger
    from workflows.answers import Answers
    from workflows.contract import (
        STATE_QUERY,
        Activity,
        AskSync,
        BadWorkflowId,
        Decision,
        Outcome,
        Plan,
        Recorded,
        RecordInput,
        Resolved,
        ResolveInput,
        Settled,
        SyncRequest,
        release_of,
    )
    from workflows.history import history_is_long
    from workflows.inbox import Inbox
    from workflows.state import Resume, SyncState
    from workflows.steps import RenderLost, StepFailed, step
    from workflows.syncing import ReleaseDeleted, Syncing
    from workflows.telling import Teller
    from workflows.views import SyncView

NOTHING = "Nothing"
DELETED = "Deleted"
RENDER_ATTEMPTS = 3


@workflow.defn(name="Sync")
class Sync:
    """Brings a Release's render to its cluster, once for each batch of requests."""

    @workflow.init
    def __init__(self, state: SyncState | None = None) -> None:
        self._state = state or SyncState()
        self._inbox = Inbox(self._state)
        self._answers = Answers()
        self._teller = Teller(self._state)
        self._woken = ""

    @workflow.run
    async def run(self, state: SyncState | None = None) -> Settled:
        """Make passes until nothing is pending, then close with the last one's result."""
        del state  # taken by __init__, since signals may run before this
        try:
            release_of(workflow.info().workflow_id)
        except BadWorkflowId as error:
            raise ApplicationError(str(error), type="BadWorkflowId", non_retryable=True) from error
        resume, self._state.resume = self._state.resume, None
        if resume is not None:
            # What has come in meanwhile is for the next pass: this one began without it.
            await self._pass((), resume)
        else:
            self._teller.tell(self._state.result.reason, self._state.result.message)
        while True:
            await workflow.wait_condition(self._may_go_on)
            if not self._inbox and not self._state.waiting:
                return self._close()
            if history_is_long() and workflow.all_handlers_finished():
                workflow.continue_as_new(self._state)
            self._answers.pass_begins()
            await self._pass(self._inbox.take(), None)

    def _may_go_on(self) -> bool:
        if self._answers.unread:
            return False
        if self._inbox:
            return True
        # A run that was started without a signal has its update's handler running already.
        return workflow.all_handlers_finished() and (not self._state.waiting or history_is_long())

    def _close(self) -> Settled:
        result = self._state.result
        failed = error_classes().get(result.reason)
        if failed is not None and not issubclass(failed, Hold):
            raise ApplicationError(result.message, result, type=result.reason, non_retryable=True)
        return result

    # --- what comes in ---------------------------------------------------------------------------

    @workflow.signal(name="sync", description="Ask for a sync; give no input when typing it by hand.")
    def request(self, request: SyncRequest | None = None) -> None:
        """Take a request: appended unless it is known already (D23)."""
        self._inbox.append(request or SyncRequest())

    @workflow.signal(name="wake", description="A wait may be over; the argument is the Release's UID.")
    def wake(self, uid: str = "") -> None:
        """End the wait for an owner (D14), also one that the running pass is about to begin."""
        self._woken = uid
        if self._state.waiting and uid in ("", self._state.waiting):
            self._inbox.append(SyncRequest(trigger=Trigger.OWNER_CHANGED, uid=uid))

    @workflow.update(name="sync", description="Sync now and answer with the outcome.")
    async def sync_now(self, force: bool = False) -> Settled:
        """Ask for a sync and wait for its first settled result, holds included."""
        update_id = workflow.current_update_info().id  # type: ignore[union-attr]
        self._answers.ask(update_id)
        self._inbox.append(SyncRequest(force=force))
        return await self._answers.read(update_id)

    @sync_now.validator
    def _accept_sync(self, force: bool = False) -> None:
        """Refuse input of another shape, and an id that names no Release: its run ends without an answer."""
        del force
        release_of(workflow.info().workflow_id)

    @workflow.query(name=STATE_QUERY, description="Phase, plan, progress and result of this run.")
    def view(self) -> SyncView:
        """Tell where this run is."""
        result = self._state.result if self._teller.at_rest else Settled(reason="")
        return SyncView(
            phase=self._teller.phase,
            plan=self._teller.plan,
            waves_done=self._teller.waves_done,
            pending=len(self._inbox),
            reason=result.reason,
            message=result.message,
        )

    # --- a pass ----------------------------------------------------------------------------------

    async def _pass(self, requests: tuple[SyncRequest, ...], resume: Resume | None) -> None:
        attempted = resume is not None
        self._woken = ""
        syncing = Syncing(self._state, self._inbox, self._teller)
        try:
            if resume is not None:
                self._teller.begin(resume.plan)
                outcome = await syncing.resume(resume)
            else:
                resolved = await self._resolve(requests)
                if resolved.decision is Decision.NOTHING:
                    self._settle_nothing(resolved, requests[0].trigger)
                    return
                self._teller.begin(resolved.plan)
                attempted = resolved.decision in (Decision.APPLY, Decision.REAPPLY)
                outcome = await self._carry_out(resolved, syncing)
        except StepFailed as error:
            outcome = Outcome(error.reason, error.message)
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
        await self._record(outcome, attempted=attempted, planned_at=syncing.planned_at)

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

    async def _carry_out(self, resolved: Resolved, syncing: Syncing) -> Outcome:
        match resolved.decision:
            case Decision.STOP:
                return Outcome(resolved.reason, resolved.message, applied=resolved.reason == APPLIED)
            case Decision.TEARDOWN:
                self._teller.enter("TearingDown")
                message = await step(
                    Activity.TEARDOWN,
                    resolved.plan,
                    str,
                    summary="delete or orphan what was applied",
                    limit=timedelta(hours=1),
                )
                return Outcome(DELETED, message)
            case Decision.REAPPLY:
                return await syncing.reapply(resolved.plan)
        return await syncing.run(resolved.plan)

    async def _record(self, outcome: Outcome, *, attempted: bool, planned_at: str) -> None:
        plan = self._teller.plan
        self._teller.enter("Recording", outcome.reason, outcome.message)
        self._state.waiting = plan.uid if outcome.reason == WaitingForOwner.reason else ""
        status = ""
        try:
            status = (
                await step(
                    Activity.RECORD,
                    RecordInput(plan, outcome, attempted=attempted, planned_at=planned_at),
                    Recorded,
                    summary=f"write the result to the Release: {outcome.reason}",
                    limit=timedelta(minutes=5),
                )
            ).status
        except (StepFailed, RenderLost) as error:
            # Nobody is told, so nobody would end a wait: the run closes, and the next tick tries again.
            self._state.waiting = ""
            message = f"{outcome.reason} ({outcome.message}), but the result could not be written: {error}"
            outcome = replace(outcome, reason=DeployFailed.reason, message=message, applied=False)
        self._settle(outcome, status)
        if self._state.waiting and self._woken == self._state.waiting:
            self._inbox.append(SyncRequest(trigger=Trigger.OWNER_CHANGED, uid=self._woken))

    # --- the result ------------------------------------------------------------------------------

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
        nothing = Settled(reason=NOTHING, message=resolved.message)
        self._answers.give(nothing)
        if resolved.plan.uid != self._state.waiting:
            self._state.waiting = ""  # the Release that waited is gone
        if self._state.result.reason == NOTHING:
            self._teller.plan, self._state.result = Plan(uid=resolved.plan.uid, trigger=trigger), nothing
        self._teller.rest()
