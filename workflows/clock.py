"""When a Drift workflow wakes by itself: for a tick (D33), a try (D34), or the end of a rollout's time (D28)."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from temporalio import workflow

from convoy.policy.spread import next_tick, overdue_delay
from workflows.state import DriftState


class Clock:
    """One timer for whatever is due first. It reads and moves the times of the state that it is given."""

    def __init__(self, state: DriftState) -> None:
        self._state = state
        self._timer: asyncio.Task[None] | None = None
        self._timer_due = 0.0

    def schedule_tick(self, *, first: bool = False) -> None:
        """Set the time of the next tick, spread over the period; without a period there is none."""
        state = self._state
        due = next_tick(
            uid=state.uid or workflow.info().workflow_id,
            now=workflow.now(),
            interval=None,
            resync=timedelta(seconds=state.tick),
            jitter01=workflow.random().random(),
            first=first,
        )
        state.next_tick = due.timestamp() if due else 0.0

    def is_due(self) -> bool:
        """Whether something is due now; where nothing is, the timer is set for what comes first."""
        due = self._next()
        if due and due <= workflow.time():
            return True
        self._set(due)
        return False

    def fired(self) -> bool:
        """Whether the timer has fired."""
        return self._timer is not None and self._timer.done()

    def spread_again(self) -> None:
        """After a restart of everything all timers are overdue at once: spread them once more (D33)."""
        state = self._state
        if not 0 < state.next_tick <= workflow.time():
            return
        delay = overdue_delay(
            uid=state.uid,
            due=datetime.fromtimestamp(state.next_tick, UTC),
            now=workflow.now(),
            period=timedelta(seconds=state.tick),
        )
        state.next_tick += (workflow.time() - state.next_tick + delay.total_seconds()) if delay else 0.0

    def _next(self) -> float:
        state = self._state
        return min((at for at in (state.next_tick, state.next_try, state.rollout_due) if at), default=0.0)

    def _set(self, due: float) -> None:
        """Let the timer fire at `due` (0: never). One that is set for then already goes on: each costs an action."""
        if self._timer is not None and self._timer_due == due and not self._timer.done():
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._timer_due = None, due
        if due:
            others = {
                self._state.next_try: "next try",
                self._state.rollout_due: "the rollout's time is up",
            }
            summary = others.get(due, "next drift pass")
            self._timer = asyncio.create_task(workflow.sleep(due - workflow.time(), summary=summary))
