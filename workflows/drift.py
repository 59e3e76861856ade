"""The Drift workflow: the durable clock of a Release, open as long as the Release lives.

It makes the drift passes of `reference/drift`, asks Sync for the periodic reconcile after each tick's pass, and holds
the failure count and the next try after a failed Sync (`reference/sync-policy`, Requeue rules; D34) and the time that a
rollout has to become healthy (D28).
"""

from __future__ import annotations

import asyncio
from datetime import timedelta

from pydantic import ValidationError
from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from convoy.api.names import APPLIED
    from convoy.policy.requeue import requeue
    from convoy.policy.trigger import Trigger
    from workflows.clock import Clock
    from workflows.contract import (
        STATE_QUERY,
        Activity,
        AskSync,
        BadWorkflowId,
        Cause,
        Changed,
        DriftInput,
        DriftReport,
        RecordRetry,
        SyncEnded,
        Verdict,
        release_of,
    )
    from workflows.history import history_is_long
    from workflows.state import DriftState
    from workflows.steps import RenderLost, StepFailed, step
    from workflows.story import drift_details
    from workflows.telling import time_of
    from workflows.views import DriftView

SUB_SECOND = 1.0
"""Temporal timers below a second take about a second (measured); the next pass sleeps such delays instead."""

INBOX_LIMIT = 50

FORMER, NOTICED = "late-words-are-dropped", "an-outcome-starts-a-pass"
"""Changes of this workflow that runs which began without them do not make."""

PATIENCE = 120.0
"""Seconds that a pass waits for the end of a Sync where there is no tick that would end the wait."""


@workflow.defn(
    name="Drift", failure_exception_types=[ValidationError]
)  # input of another shape fails the run
class Drift:
    """Finds drift, asks for syncs, and remembers when the next one is due."""

    @workflow.init
    def __init__(self, state: DriftState | None = None) -> None:
        self._state = state or DriftState()
        self._checks: list[str] = []
        self._answers: dict[str, DriftReport] = {}
        self._ended = False
        self._clock = Clock(self._state)

    @workflow.run
    async def run(self, state: DriftState | None = None) -> None:
        """Sleep until something is due, do it, and go on until the Release is gone.

        Raises:
            ApplicationError: the workflow id names no Release.
            CancelledError: somebody cancelled the run.
        """
        del state  # taken by __init__, since signals may run before this
        try:
            release_of(workflow.info().workflow_id)
        except BadWorkflowId as error:
            raise ApplicationError(str(error), type="BadWorkflowId", non_retryable=True) from error
        if not self._state.next_tick:
            self._clock.schedule_tick(first=True)
        while not self._ended:
            self._tell()
            await self._sleep()
            await self._take_outcomes()
            await self._make_due_pass()
            await self._make_due_try()
            await self._end_due_rollout()
            await workflow.wait_condition(lambda: not self._answers)
            if self._may_continue_as_new():
                workflow.continue_as_new(self._state)
            self._ended |= workflow.cancellation_reason() is not None
        await workflow.wait_condition(workflow.all_handlers_finished)
        if workflow.cancellation_reason() is not None:
            raise asyncio.CancelledError  # it came while a step ran, which took it for its own (design 04, rule 3)

    def _may_continue_as_new(self) -> bool:
        return not self._ended and history_is_long() and workflow.all_handlers_finished()

    # --- messages --------------------------------------------------------------------------------

    @workflow.signal(description="Something happened that starts a drift pass, or the Release is gone.")
    def changed(self, event: Changed | None = None) -> None:
        """Take an event that starts a pass, once (`reference/drift`, When the observer checks)."""
        if event is None:
            return  # typed by hand: a pass is asked for by update `check`
        known = f"{event.uid}/{event.cause}/{event.id}"
        if known in self._state.seen or len(self._state.inbox) >= INBOX_LIMIT:
            return
        self._state.seen = [*self._state.seen[-INBOX_LIMIT:], known]
        self._state.inbox.append(event)

    @workflow.signal(description="A pass of Sync ended.")
    def outcome(self, ended: SyncEnded | None = None) -> None:
        """Take how a pass of Sync ended."""
        if ended is None:
            return  # typed by hand: it says nothing
        self._state.ended = [*self._state.ended[-INBOX_LIMIT:], ended]

    @workflow.update(description="One drift pass now; answers with its verdict (D37).")
    async def check(self) -> DriftReport:
        """Make a pass that begins after this call."""
        check_id = workflow.current_update_info().id  # type: ignore[union-attr]
        self._checks.append(check_id)
        await workflow.wait_condition(lambda: check_id in self._answers or self._ended)
        return self._answers.pop(check_id, DriftReport(verdict=Verdict.GONE))

    @check.validator
    def _accept_check(self) -> None:
        """Refuse an id that names no Release: its run ends without an answer."""
        release_of(workflow.info().workflow_id)

    @workflow.query(name=STATE_QUERY, description="Last verdict, next pass, next try and why.")
    def view(self) -> DriftView:
        """Tell the last verdict and what is due when."""
        return DriftView(
            last=self._state.last,
            passes=self._state.passes,
            failures=self._state.failures,
            next_tick=time_of(self._state.next_tick),
            next_try=time_of(self._state.next_try),
            rollout_due=time_of(self._state.rollout_due),
            pending=len(self._state.inbox) + len(self._checks),
        )

    # --- the clock -------------------------------------------------------------------------------

    async def _sleep(self) -> None:
        if self._clock.is_due():
            return
        await workflow.wait_condition(
            lambda: (
                self._clock.fired()
                or bool(self._state.ended)
                or self._pass_is_asked_for()
                or self._may_continue_as_new()
            )
        )
        if self._clock.fired():
            self._clock.spread_again()

    def _pass_is_asked_for(self) -> bool:
        # While a Sync applies, events and checks wait for its end (D35); the tick bounds that wait.
        return not self._state.busy and bool(self._state.inbox or self._checks)

    # --- the results of Sync ---------------------------------------------------------------------

    async def _take_outcomes(self) -> None:
        ended, self._state.ended = self._state.ended, []
        for one in ended:
            if one.uid in self._state.former and workflow.patched(FORMER):
                continue  # a late word of a Release that is gone (D39)
            self._state.busy = False
            self._adopt(one.uid)
            self._state.rollout_due = one.rollout_due
            self._notice(one)
            await self._count(one)

    def _notice(self, ended: SyncEnded) -> None:
        """Make a pass due where the spec or the applied render is another than the latest pass was about.

        Every such change ends in a pass of Sync, whose word is durable, and a compare before it would find a sync at
        work (D35). So nothing depends on what a watcher remembers.
        """
        state, now = self._state, (ended.spec_hash, ended.render_ref)
        # A pass before a rollback, or in a wait for a person, compared another render than the one that is back now.
        was_other = ended.reason == APPLIED and state.desired not in ("", ended.render_ref)
        is_known = now == state.compared and not was_other
        if not ended.spec_hash or is_known or not workflow.patched(NOTICED):
            return
        (spec_hash, _), state.compared, state.desired = state.compared, now, ""
        cause = Cause.INVENTORY_CHANGED
        if spec_hash != ended.spec_hash:
            cause = Cause.SPEC_CHANGED if spec_hash else Cause.CREATED
        state.inbox.append(Changed(uid=ended.uid, cause=cause, id=""))

    async def _count(self, ended: SyncEnded) -> None:
        """Count a failure and schedule its retry (`reference/sync-policy`, Requeue rules)."""
        state = self._state
        next_step = requeue(ended.reason, state.failures, ended.policy)
        had_retry = state.failures > 0
        state.failures, state.next_try = next_step.failures, 0.0
        if next_step.retry_after is None:
            if had_retry:
                await self._record_retry(at="")
            return
        delay = next_step.retry_after.total_seconds()
        if delay < SUB_SECOND:
            await self._ask(Trigger.RETRY, delay_ms=round(delay * 1000))
            return
        state.next_try = workflow.time() + delay
        await self._record_retry(at=time_of(state.next_try))

    async def _make_due_try(self) -> None:
        if self._state.next_try and self._state.next_try <= workflow.time():
            self._state.next_try = 0.0
            await self._ask(Trigger.RETRY)

    async def _end_due_rollout(self) -> None:
        """Ask for the pass that finds the rollout failed. If it gets lost, the one of the next tick finds it."""
        if self._state.rollout_due and self._state.rollout_due <= workflow.time():
            self._state.rollout_due = 0.0
            await self._ask(Trigger.ROLLOUT_FAILED)

    async def _record_retry(self, *, at: str) -> None:
        await self._quietly(
            Activity.RECORD_RETRY,
            RecordRetry(uid=self._state.uid, failures=self._state.failures, at=at),
            summary=f"failure {self._state.failures}: next try at {at}" if at else "no retry is due any more",
        )

    # --- drift passes ----------------------------------------------------------------------------

    async def _make_due_pass(self) -> None:
        state = self._state
        ticked = 0 < state.next_tick <= workflow.time()
        if not ticked and not self._pass_is_asked_for():
            return
        events, state.inbox = state.inbox, []
        checks, self._checks = self._checks, []
        cause = Cause.CHECK if checks else events[0].cause if events else Cause.TICK
        report = await self._pass(cause, ticked=ticked)
        self._adopt(report.uid)
        if ticked or not report.tick or report.tick != state.tick:
            state.tick = report.tick
            self._clock.schedule_tick()
        if report.verdict is Verdict.BUSY:
            # Made again when the Sync ends, or at the next tick.
            self._state.busy = True
            state.inbox, self._checks = events + state.inbox, checks + self._checks
            if not state.next_tick:
                state.next_tick = workflow.time() + PATIENCE
            if not state.inbox:
                state.inbox = [Changed(uid=report.uid, cause=Cause.SYNC_ENDED, id="")]
            return
        self._state.busy = False
        state.last = report
        if report.spec_hash:
            state.compared, state.desired = (report.spec_hash, report.render_ref), report.desired
        state.fights = report.fights
        for check in checks:
            self._answers[check] = report
        # What came in meanwhile may be about a new Release of the same name.
        self._ended = report.verdict is Verdict.GONE and not state.inbox and not state.ended
        if report.heal:
            await self._ask(Trigger.SELF_HEAL, annotate=True)
        elif ticked and report.tick and report.reconcile:
            await self._ask(Trigger.PERIODIC)

    async def _pass(self, cause: Cause, *, ticked: bool) -> DriftReport:
        self._state.passes += 1
        try:
            return await step(
                Activity.DRIFT_PASS,
                DriftInput(cause=cause, ticked=ticked, fights=self._state.fights),
                DriftReport,
                summary=f"compare the desired render with the cluster: {cause}",
                limit=timedelta(minutes=15),
            )
        except (StepFailed, RenderLost) as error:
            # The reconcile does not depend on the pass: what it cannot compare may still be applied.
            return DriftReport(
                verdict=Verdict.UNDETERMINED,
                uid=self._state.uid,
                message=str(error),
                tick=self._state.tick,
                reconcile=True,
                fights=self._state.fights,
            )

    async def _ask(self, trigger: Trigger, *, annotate: bool = False, delay_ms: int = 0) -> None:
        await self._quietly(
            Activity.ASK_SYNC,
            AskSync(uid=self._state.uid, trigger=trigger, annotate=annotate, delay_ms=delay_ms),
            summary=f"ask for a sync: {trigger}",
        )

    async def _quietly(self, name: Activity, arg: AskSync | RecordRetry, *, summary: str) -> None:
        """Run a step whose failure must not stop the clock: the next tick makes up for it."""
        try:
            await step(name, arg, str, summary=summary)
        except (StepFailed, RenderLost) as error:
            workflow.logger.warning("step failed; the next tick makes up for it", extra={"error": str(error)})

    def _adopt(self, uid: str) -> None:
        """Discard what belonged to a Release of the same name that is gone (D39)."""
        state = self._state
        if not uid or uid == state.uid:
            return
        if state.uid:
            gone = [*state.former[-INBOX_LIMIT:], state.uid]
            state.failures, state.next_try, state.rollout_due = 0, 0.0, 0.0
            state.fights, state.last, state.compared, state.desired = (), None, ("", ""), ""
            state.former = [one for one in gone if one != uid]
        state.uid = uid

    def _tell(self) -> None:
        workflow.set_current_details(
            drift_details(
                self._state,
                next_tick=time_of(self._state.next_tick),
                next_try=time_of(self._state.next_try),
                rollout_due=time_of(self._state.rollout_due),
            )
        )
