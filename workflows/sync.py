"""The Sync workflow: one run is one attempt to bring a Release's render to its cluster.

Its id is the lock: two syncs of one Release cannot run at once. It takes the requests that wait, makes a pass, takes
what came in meanwhile, and closes: Completed, or Failed with the condition's reason as the failure's type. The steps
and their order are those of `reference/apply-and-prune`.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from convoy.api.errors import DeployFailed, Hold, WaitingForOwner, error_classes
    from convoy.api.objects import counted
    from convoy.policy.trigger import Trigger
    from workflows.attributes import search_attributes
    from workflows.contract import (
        STATE_QUERY,
        Activity,
        AskSync,
        BadWorkflowId,
        ClaimResult,
        Decision,
        DryRunResult,
        Outcome,
        Plan,
        PruneResult,
        ReapplyResult,
        Recorded,
        RecordInput,
        Resolved,
        ResolveInput,
        Settled,
        SyncRequest,
        WaveInput,
        WaveResult,
        release_of,
    )
    from workflows.history import history_is_long
    from workflows.state import Resume, SyncState
    from workflows.steps import RenderLost, StepFailed, step
    from workflows.story import sync_details
    from workflows.views import SyncView

APPLIED = "Applied"
NOTHING = "Nothing"
DELETED = "Deleted"
INBOX_LIMIT = 100
RENDER_ATTEMPTS = 3


class _ReleaseDeleted(Exception):
    """The Release is being deleted: what the waves to come would apply, the teardown would have to delete."""


@workflow.defn(name="Sync")
class Sync:
    """Brings a Release's render to its cluster, once for each batch of requests."""

    @workflow.init
    def __init__(self, state: SyncState | None = None) -> None:
        self._state = state or SyncState()
        self._phase = "Waiting" if self._state.waiting else "Pending"
        self._plan = Plan()
        self._waves_done = 0
        self._planned_at = ""
        self._woken = ""
        self._asking: list[str] = []
        self._answering: list[str] = []
        self._answers: dict[str, Settled] = {}

    @workflow.run
    async def run(self, state: SyncState | None = None) -> Settled:
        """Make passes until nothing is pending, then close with the last one's result."""
        del state  # taken by __init__, since signals may run before this
        try:
            self._release = release_of(workflow.info().workflow_id)
        except BadWorkflowId as error:
            raise ApplicationError(str(error), type="BadWorkflowId", non_retryable=True) from error
        resume, self._state.resume = self._state.resume, None
        if resume is not None:
            # What has come in meanwhile is for the next pass: this one began without it.
            await self._pass((), resume)
        else:
            self._tell(self._state.result.reason, self._state.result.message)
        while True:
            await workflow.wait_condition(self._may_go_on)
            if not self._state.inbox and not self._state.waiting:
                return self._close()
            if history_is_long() and workflow.all_handlers_finished():
                workflow.continue_as_new(self._state)
            await self._pass(self._take_requests(), None)

    def _may_go_on(self) -> bool:
        if self._answers:
            return False  # whoever asked reads the answer before the run goes on or closes
        if self._state.inbox:
            return True
        # A run that was started without a signal has its update's handler running already.
        return workflow.all_handlers_finished() and (not self._state.waiting or history_is_long())

    # --- requests --------------------------------------------------------------------------------

    @workflow.signal(name="sync", description="Ask for a sync; give no input when typing it by hand.")
    def request(self, request: SyncRequest | None = None) -> None:
        """Take a request: appended unless it is known already (D23)."""
        self._append(request or SyncRequest())

    @workflow.signal(name="wake", description="A wait may be over; the argument is the Release's UID.")
    def wake(self, uid: str = "") -> None:
        """End the wait for an owner (D14), also one that the running pass is about to begin."""
        self._woken = uid
        if self._state.waiting and uid in ("", self._state.waiting):
            self._append(SyncRequest(trigger=Trigger.OWNER_CHANGED, uid=uid))

    @workflow.update(name="sync", description="Sync now and answer with the outcome.")
    async def sync_now(self, force: bool = False) -> Settled:
        """Ask for a sync and wait for its first settled result, holds included."""
        update_id = workflow.current_update_info().id  # type: ignore[union-attr]
        self._asking.append(update_id)
        self._append(SyncRequest(force=force))
        await workflow.wait_condition(lambda: update_id in self._answers)
        return self._answers.pop(update_id)

    @sync_now.validator
    def _accept_sync(self, force: bool = False) -> None:
        """Refuse input of another shape, and an id that names no Release: its run ends without an answer."""
        del force
        release_of(workflow.info().workflow_id)

    @workflow.query(name=STATE_QUERY, description="Phase, plan, progress and result of this run.")
    def view(self) -> SyncView:
        """Tell where this run is."""
        result = self._state.result if self._phase in ("Settled", "Waiting") else Settled(reason="")
        return SyncView(
            phase=self._phase,
            plan=self._plan,
            waves_done=self._waves_done,
            pending=len(self._state.inbox),
            reason=result.reason,
            message=result.message,
        )

    def _append(self, request: SyncRequest) -> None:
        if request.id:
            if request.id in self._state.seen:
                return
            self._state.seen = [*self._state.seen[-INBOX_LIMIT:], request.id]
        inbox = self._state.inbox
        for place, other in enumerate(inbox):
            if (other.trigger, other.uid) == (request.trigger, request.uid):
                # One pass answers both, so a flood of requests is one request.
                delay = min(request.delay_ms, other.delay_ms)
                inbox[place] = replace(request, force=request.force or other.force, delay_ms=delay)
                return
        self._state.inbox = [*inbox[1 - INBOX_LIMIT :], request]

    def _take_requests(self) -> tuple[SyncRequest, ...]:
        taken, self._state.inbox = self._state.inbox, []
        self._answering, self._asking = [*self._answering, *self._asking], []
        return tuple(taken)

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
        if not annotation:
            return  # the Release is gone
        # The watcher echoes the annotation, perhaps it has already; that echo is this same request.
        self._state.seen = [*self._state.seen[-INBOX_LIMIT:], annotation]
        self._state.inbox = [other for other in self._state.inbox if other.id != annotation]

    # --- a pass ----------------------------------------------------------------------------------

    async def _pass(self, requests: tuple[SyncRequest, ...], resume: Resume | None) -> None:
        attempted = resume is not None
        self._planned_at, self._woken = "", ""
        try:
            if resume is not None:
                self._plan = resume.plan
                outcome = await self._sync(resume.plan, resume)
            else:
                resolved = await self._resolve(requests)
                if resolved.decision is Decision.NOTHING:
                    self._settle_nothing(resolved, requests[0].trigger)
                    return
                self._plan, self._waves_done = resolved.plan, 0
                attempted = resolved.decision in (Decision.APPLY, Decision.REAPPLY)
                outcome = await self._carry_out(resolved)
        except StepFailed as error:
            outcome = Outcome(error.reason, error.message)
        except _ReleaseDeleted:
            return  # nothing more is applied: the request that told of the deletion makes the teardown
        except RenderLost as error:
            self._state.lost += 1
            if self._state.lost < RENDER_ATTEMPTS:
                self._append(SyncRequest(trigger=Trigger.RESTARTED, uid=self._plan.uid))
                return
            outcome = Outcome(DeployFailed.reason, f"the render disappears from the working store: {error}")
        self._state.lost = 0
        if outcome.reason == DELETED:
            self._state.waiting = ""
            self._settle(outcome, "")
            return
        await self._record(outcome, attempted=attempted)

    async def _record(self, outcome: Outcome, *, attempted: bool) -> None:
        self._enter("Recording", outcome.reason, outcome.message)
        self._state.waiting = self._plan.uid if outcome.reason == WaitingForOwner.reason else ""
        status = ""
        try:
            status = (
                await step(
                    Activity.RECORD,
                    RecordInput(self._plan, outcome, attempted=attempted, planned_at=self._planned_at),
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
            self._append(SyncRequest(trigger=Trigger.OWNER_CHANGED, uid=self._woken))

    async def _resolve(self, requests: tuple[SyncRequest, ...]) -> Resolved:
        self._enter("Resolving")
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
            self._plan, self._waves_done = Plan(uid=uid, trigger=requests[0].trigger), 0
            raise

    async def _carry_out(self, resolved: Resolved) -> Outcome:
        plan = resolved.plan
        match resolved.decision:
            case Decision.STOP:
                return Outcome(resolved.reason, resolved.message, applied=resolved.reason == APPLIED)
            case Decision.TEARDOWN:
                self._enter("TearingDown")
                message = await step(
                    Activity.TEARDOWN,
                    plan,
                    str,
                    summary="delete or orphan what was applied",
                    limit=timedelta(hours=1),
                )
                return Outcome(DELETED, message)
            case Decision.REAPPLY:
                self._enter("Applying")
                result = await step(
                    Activity.REAPPLY,
                    plan,
                    ReapplyResult,
                    summary=f"apply the unchanged render again: {counted(plan.objects, 'object')}",
                    limit=_limit(plan.objects * 2),
                    fairness_key=plan.cluster,
                )
                self._waves_done = len(plan.waves)
                return self._applied(plan, changed=result.changed, pruned=result.pruned)
        return await self._sync(plan, None)

    async def _sync(self, plan: Plan, resume: Resume | None) -> Outcome:
        """The steps of a sync, in the page's order. If one fails or waits, those after it do not run."""
        seen, changed, first = "", 0, 0
        if resume is not None:
            seen, changed, first = resume.seen, resume.changed, resume.next_wave
        else:
            seen = await self._before_apply(plan)
        self._enter("Applying")
        self._planned_at = ""
        for index in range(first, len(plan.waves)):
            self._waves_done = index
            if index > first and history_is_long() and workflow.all_handlers_finished():
                self._state.resume = Resume(plan=plan, next_wave=index, seen=seen, changed=changed)
                workflow.continue_as_new(self._state)
            if any(request.trigger is Trigger.DELETED for request in self._state.inbox):
                raise _ReleaseDeleted
            wave = plan.waves[index]
            result = await step(
                Activity.APPLY_WAVE,
                WaveInput(plan=plan, index=index, seen=seen),
                WaveResult,
                summary=f"apply wave {wave.wave}: {counted(wave.objects, 'object')}",
                limit=_limit(wave.objects),
                group=workflow.create_event_group(f"wave {wave.wave}"),
                activity_id=f"{Activity.APPLY_WAVE}-{wave.wave}",
                fairness_key=plan.cluster,
            )
            changed += result.changed
            self._waves_done = index + 1
            self._tell()
        return await self._after_apply(plan, changed)

    async def _before_apply(self, plan: Plan) -> str:
        self._enter("Claiming")
        claimed = await step(
            Activity.CLAIM, plan, ClaimResult, summary="record what is about to be applied", limit=_limit(0)
        )
        self._planned_at = claimed.planned_at
        seen = ""
        if not plan.forced:
            self._enter("DryRun")
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
            self._enter("Storing")
            await step(
                Activity.STORE_RENDER, plan, type(None), summary="write the render to the render store"
            )
        return seen

    async def _after_apply(self, plan: Plan, changed: int) -> Outcome:
        pruned = 0
        if plan.prune:
            self._enter("Pruning")
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
        return self._applied(plan, changed=changed, pruned=pruned)

    def _applied(self, plan: Plan, *, changed: int, pruned: int) -> Outcome:
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

    # --- telling ---------------------------------------------------------------------------------

    def _settle(self, outcome: Outcome, status: str) -> None:
        """Answer everyone who waits for this pass."""
        self._state.result = Settled(
            requested_at=self._plan.requested_at,
            status=status,
            reason=outcome.reason,
            message=outcome.message,
            render_ref=self._plan.render_ref,
            changed=outcome.changed,
        )
        self._answer(self._state.result)
        self._rest()

    def _settle_nothing(self, resolved: Resolved, trigger: Trigger) -> None:
        """Nothing was due. What an earlier pass of this run came to stays the run's result."""
        nothing = Settled(reason=NOTHING, message=resolved.message)
        self._answer(nothing)
        if resolved.plan.uid != self._state.waiting:
            self._state.waiting = ""  # the Release that waited is gone
        if self._state.result.reason == NOTHING:
            self._plan, self._state.result = Plan(uid=resolved.plan.uid, trigger=trigger), nothing
        self._rest()

    def _answer(self, settled: Settled) -> None:
        for update_id in self._answering:
            self._answers[update_id] = settled
        self._answering = []

    def _rest(self) -> None:
        self._enter(
            "Waiting" if self._state.waiting else "Settled",
            self._state.result.reason,
            self._state.result.message,
        )

    def _enter(self, phase: str, reason: str = "", message: str = "") -> None:
        self._phase = phase
        self._tell(reason, message)
        if phase not in ("Applying", "Waiting", "Settled"):
            return  # a search attribute costs an event: only what a person would filter by
        changed = None if phase == "Applying" else self._state.result.changed
        workflow.upsert_search_attributes(
            search_attributes(self._release, self._plan, phase=reason or phase, changed=changed)
        )

    def _tell(self, reason: str = "", message: str = "") -> None:
        workflow.set_current_details(
            sync_details(
                self._plan, phase=self._phase, waves_done=self._waves_done, reason=reason, message=message
            )
        )

    def _close(self) -> Settled:
        result = self._state.result
        failed = error_classes().get(result.reason)
        if failed is not None and not issubclass(failed, Hold):
            raise ApplicationError(result.message, result, type=result.reason, non_retryable=True)
        return result


def _limit(objects: int) -> timedelta:
    """How long one attempt of a step over so many objects may take: far above what it needs."""
    return timedelta(minutes=5) + timedelta(seconds=2) * objects
