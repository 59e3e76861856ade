"""Where a Sync is, told to people: the current details and the search attributes of the web UI."""

from __future__ import annotations

from datetime import UTC, datetime

from temporalio import workflow

from convoy.api.times import format_time
from workflows.attributes import search_attributes
from workflows.contract import Plan, release_of
from workflows.state import Point, SyncState
from workflows.story import sync_details

WAITING = "Waiting"
POST_SYNC = "PostSync"
"""The render is applied; the run stays open for its postSync hooks."""
SETTLED = "Settled"

_FILTERED_BY = ("Applying", WAITING, POST_SYNC, SETTLED)
"""A search attribute costs an event: only what a person would filter by."""


class Teller:
    """Phase, plan and progress of the running pass."""

    def __init__(self, state: SyncState) -> None:
        self._state = state
        self.phase = self._resting() if state.waits else "Pending"
        self.plan = state.wait.at.plan if state.wait is not None else Plan()
        self.waves_done = state.wait.at.next_wave if state.wait is not None else 0

    @property
    def at_rest(self) -> bool:
        """Whether no pass runs: the result of the latest one stands."""
        return self.phase in (WAITING, POST_SYNC, SETTLED)

    def begin(self, plan: Plan, waves_done: int = 0) -> None:
        """A pass over a plan begins."""
        self.plan, self.waves_done = plan, waves_done

    def enter(self, phase: str, reason: str = "", message: str = "") -> None:
        """The next phase begins."""
        self.phase = phase
        self.tell(reason, message)
        if phase not in _FILTERED_BY:
            return
        changed = None if phase == "Applying" else self._state.result.changed
        shown = phase if phase == POST_SYNC else reason or phase
        workflow.upsert_search_attributes(
            search_attributes(
                release_of(workflow.info().workflow_id), self.plan, phase=shown, changed=changed
            )
        )

    def rest(self) -> None:
        """The pass is over: the run waits, or is about to close."""
        result = self._state.result
        self.enter(self._resting(), result.reason, result.message)

    def tell(self, reason: str = "", message: str = "") -> None:
        """Write the current details anew; they cost nothing."""
        workflow.set_current_details(
            sync_details(
                self.plan,
                phase=self.phase,
                waves_done=self.waves_done,
                reason=reason,
                message=message,
                deadline=self.deadline,
            )
        )

    @property
    def deadline(self) -> str:
        """Until when the run waits; empty where it does not, or for ever."""
        wait = self._state.wait
        return time_of(wait.deadline) if self.at_rest and wait is not None and wait.deadline else ""

    def _resting(self) -> str:
        wait = self._state.wait
        if wait is not None and wait.at.point is Point.POST_SYNC:
            return POST_SYNC
        return WAITING if self._state.waits else SETTLED


def time_of(seconds: float) -> str:
    """Write a time of the epoch as people and Kubernetes read it; empty for 0, which is no time."""
    return format_time(datetime.fromtimestamp(seconds, UTC)) if seconds else ""
