"""The Health workflow: open as long as something is waited for that Kubernetes has to do.

A sync that applied something not healthy yet signals `watch`, and so do a wave, a prune or a hook that wait. One long
activity watches, writes what it sees, and asks for a sync when it is what somebody waits for; this workflow makes sure
that it runs, whatever happens to a worker, and that it watches the latest. It closes when nothing is left to watch: a
healthy Release costs nothing here, and of a failed one the drift passes look whether it recovers.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from pydantic import ValidationError
from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError

with workflow.unsafe.imports_passed_through():
    from workflows.contract import (
        OBSERVING,
        STATE_QUERY,
        Activity,
        BadWorkflowId,
        Observed,
        ObserveInput,
        Watch,
        release_of,
    )
    from workflows.history import history_is_long
    from workflows.state import HealthState
    from workflows.steps import HEARTBEAT, PATIENCE, RETRY
    from workflows.story import health_details
    from workflows.views import HealthView

ATTEMPT = timedelta(minutes=20)
"""Above what the activity takes by itself."""

PUT_BACK = "what-was-displaced-is-put-back"
"""A change of this workflow that runs which began without it do not make."""


@workflow.defn(
    name="Health", failure_exception_types=[ValidationError]
)  # input of another shape fails the run
class Health:
    """Watches what was applied until it is healthy or has failed."""

    @workflow.init
    def __init__(self, state: HealthState | None = None) -> None:
        self._state = state or HealthState()
        self._news = False

    @workflow.run
    async def run(self, state: HealthState | None = None) -> Observed:
        """Watch until nothing is left to watch; returns what was seen last.

        Raises:
            ApplicationError: the workflow id names no Release.
        """
        del state  # taken by __init__, since signals may run before this
        try:
            release_of(workflow.info().workflow_id)
        except BadWorkflowId as error:
            raise ApplicationError(str(error), type="BadWorkflowId", non_retryable=True) from error
        while self._state.render is not None or self._state.jobs is not None:
            if history_is_long():
                workflow.continue_as_new(self._state)
            workflow.set_current_details(health_details(self._state))
            await self._observe()
        workflow.set_current_details(health_details(self._state))
        return self._state.last

    @workflow.signal(description="Something is waited for: the health of a render, or the Jobs of hooks.")
    def watch(self, watch: Watch | None = None) -> None:
        """Take what is waited for now in the place of what was before."""
        if watch is None:
            return  # typed by hand: it names nothing
        state = self._state
        if any(other is not None and other.uid != watch.uid for other in (state.render, state.jobs)):
            # Of a Release of the same name that is gone: they or this one, and the activity will see which (D39).
            state.displaced = (state.render, state.jobs)
            state.render = state.jobs = None
        if watch in (state.render, state.jobs):
            return
        if watch.jobs:
            state.jobs = watch
        else:
            state.render = watch
        self._news = True

    @workflow.query(name=STATE_QUERY, description="What is watched, and what was seen of it last.")
    def view(self) -> HealthView:
        """Tell what is watched and how it is."""
        last = self._state.last
        return HealthView(self._state.render, self._state.jobs, last.phase, last.message)

    async def _observe(self) -> None:
        asked = ObserveInput(self._state.render, self._state.jobs)
        self._news = False
        observing = workflow.start_activity(
            Activity.OBSERVE_HEALTH,
            asked,
            result_type=Observed,
            task_queue=workflow.info().task_queue + OBSERVING,
            start_to_close_timeout=ATTEMPT,
            schedule_to_close_timeout=ATTEMPT + PATIENCE,
            heartbeat_timeout=HEARTBEAT,
            retry_policy=RETRY,
            cancellation_type=workflow.ActivityCancellationType.TRY_CANCEL,
            summary="watch until it is healthy or has failed",
        )
        await workflow.wait_condition(lambda: self._news or observing.done())
        if not observing.done():
            # It learns of it with a heartbeat; until then what it writes is about no older render (`is_latest`).
            observing.cancel()
        try:
            self._take(asked, await observing)
        except ActivityError as error:
            if not self._news:
                self._give_up(error)

    def _take(self, asked: ObserveInput, seen: Observed) -> None:
        """Take what was seen; what has come in meanwhile is to be watched, whatever it was."""
        state = self._state
        state.last = seen
        if (seen.gone or seen.render_settled) and state.render == asked.render:
            state.render = None
        if (seen.gone or seen.jobs_settled) and state.jobs == asked.jobs:
            state.jobs = None
        displaced = [watch for watch in state.displaced if watch is not None]
        if not displaced or any(watch in (asked.render, asked.jobs) for watch in displaced):
            return
        if seen.gone and workflow.patched(PUT_BACK):
            state.render, state.jobs = state.displaced  # it was a late word of a Release that is gone
        state.displaced = (None, None)

    def _give_up(self, error: ActivityError) -> None:
        """End a watch that cannot be made: the next drift pass looks, and whoever waits has a deadline."""
        workflow.logger.warning("not watched any more", extra={"error": str(error.cause)})
        self._state = replace(
            self._state, render=None, jobs=None, last=Observed(phase="Unknown", message=str(error.cause))
        )
