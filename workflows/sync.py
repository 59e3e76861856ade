"""The Sync workflow: one run is one attempt to bring a Release's render to its cluster.

Its id is the lock: two syncs of one Release cannot run at once. It takes the requests that wait, makes a pass, takes
what came in meanwhile, and closes: Completed, or Failed with the condition's reason as the failure's type. A pass that
ends in a wait for a wave, a hook, an approval or an owner leaves the run open: whatever comes in makes a new pass, and
so does the wait's deadline (D25). A pass is in `workflows.reconcile`, its steps in `workflows.syncing`.
"""

from __future__ import annotations

from pydantic import ValidationError
from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from convoy.api.errors import Hold, error_classes
    from convoy.api.times import format_time
    from convoy.policy.trigger import Trigger
    from workflows.answers import Answers
    from workflows.contract import STATE_QUERY, Approved, BadWorkflowId, Settled, SyncRequest, release_of
    from workflows.history import history_is_long
    from workflows.hooking import write_approval
    from workflows.inbox import Inbox
    from workflows.reconcile import Reconcile
    from workflows.state import SyncState
    from workflows.telling import Teller
    from workflows.views import SyncView

SHORTEST_TIMER = 1.0
"""Seconds; the server rounds shorter ones up."""


@workflow.defn(name="Sync", failure_exception_types=[ValidationError])  # input of another shape fails the run
class Sync:
    """Brings a Release's render to its cluster, once for each batch of requests."""

    @workflow.init
    def __init__(self, state: SyncState | None = None) -> None:
        self._state = state or SyncState()
        self._inbox = Inbox(self._state)
        self._answers = Answers()
        self._teller = Teller(self._state)
        self._reconcile = Reconcile(self._state, self._inbox, self._answers, self._teller)
        self._writing: list[str] = []
        """Hooks whose approval is being written down."""

    @workflow.run
    async def run(self, state: SyncState | None = None) -> Settled:
        """Make passes until nothing is pending, then close with the last one's result.

        Raises:
            ApplicationError: the last pass failed, and its type is the condition's reason; or the workflow id names
                no Release.
        """
        del state  # taken by __init__, since signals may run before this
        try:
            release_of(workflow.info().workflow_id)
        except BadWorkflowId as error:
            raise ApplicationError(str(error), type="BadWorkflowId", non_retryable=True) from error
        resume, self._state.resume = self._state.resume, None
        if resume is not None:
            # What has come in meanwhile is for the next pass: this one began without it.
            await self._reconcile.run((), resume)
        else:
            self._teller.tell(self._state.result.reason, self._state.result.message)
        while True:
            await self._until_something_is_due()
            if not self._inbox and not self._state.waits:
                return self._close()
            if history_is_long() and workflow.all_handlers_finished():
                workflow.continue_as_new(self._state)
            self._answers.pass_begins()
            await self._reconcile.run(self._inbox.take())

    async def _until_something_is_due(self) -> None:
        wait = self._state.wait
        if wait is None or not wait.deadline or self._may_go_on():
            await workflow.wait_condition(self._may_go_on)
            return
        try:
            await workflow.wait_condition(
                self._may_go_on,
                timeout=max(wait.deadline - workflow.time(), SHORTEST_TIMER),
                timeout_summary=f"{self._state.result.reason}: look again",
            )
        except TimeoutError:
            self._inbox.append(SyncRequest(trigger=Trigger.TIMED_OUT, uid=wait.at.plan.uid))

    def _may_go_on(self) -> bool:
        if self._answers.unread:
            return False
        if self._inbox:
            return True
        # A run that was started without a signal has its update's handler running already.
        return workflow.all_handlers_finished() and (not self._state.waits or history_is_long())

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
        self._reconcile.woken = uid
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

    @workflow.update(name="approve", description="Let an approval hook go on: its name, and who you are.")
    async def approve(self, hook: str = "", user: str = "") -> Approved:
        """Write down who lets a hook go on, and go on. Whoever has the answer need not ask whether it counted."""
        approved = Approved(hook, by=user, at=format_time(workflow.now()))
        wait = self._state.wait
        if wait is None:
            raise ApplicationError("nothing waits")  # never: the validator has seen that the hook does
        plan = wait.at.plan
        if workflow.patched("approvals-are-written-at-once"):
            self._writing.append(hook)
            refused = await write_approval(plan, approved)
            self._writing.remove(hook)
            if refused:
                raise ApplicationError(refused, type="NotApproved", non_retryable=True)
            wait.awaits = tuple(name for name in wait.awaits if name != hook)
        else:
            self._state.approvals = [*self._state.approvals, approved]
            self._state.approved_ref = plan.render_ref
        self._inbox.append(SyncRequest(trigger=Trigger.APPROVED, uid=plan.uid))
        return approved

    @approve.validator
    def _accept_approval(self, hook: str = "", user: str = "") -> None:
        """Refuse what waits for no approval, so that nobody approves what he has not seen."""
        awaited = self._awaited()
        if hook not in awaited:
            waiting = f"these do: {', '.join(awaited)}" if awaited else "none does"
            raise ValueError(f"no hook {hook!r} waits for an approval; {waiting}")
        if not user:
            raise ValueError("say who approves: the second argument is the name of the user")

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
            deadline=self._teller.deadline,
            awaits=self._awaited(),
        )

    def _awaited(self) -> tuple[str, ...]:
        """Return the hooks that wait for a person who has not come yet."""
        wait = self._state.wait
        approved = {*self._writing, *(one.hook for one in self._state.approvals)}
        return tuple(hook for hook in wait.awaits if hook not in approved) if wait is not None else ()
