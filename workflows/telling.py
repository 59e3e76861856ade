"""Where a Sync is, told to people: the current details and the search attributes of the web UI."""

from __future__ import annotations

from temporalio import workflow

from workflows.attributes import search_attributes
from workflows.contract import Plan, release_of
from workflows.state import SyncState
from workflows.story import sync_details

_FILTERED_BY = ("Applying", "Waiting", "Settled")
"""A search attribute costs an event: only what a person would filter by."""


class Teller:
    """Phase, plan and progress of the running pass."""

    def __init__(self, state: SyncState) -> None:
        self._state = state
        self.phase = "Waiting" if state.waiting else "Pending"
        self.plan = Plan()
        self.waves_done = 0

    @property
    def at_rest(self) -> bool:
        """Whether no pass runs: the result of the latest one stands."""
        return self.phase in ("Settled", "Waiting")

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
        workflow.upsert_search_attributes(
            search_attributes(
                release_of(workflow.info().workflow_id), self.plan, phase=reason or phase, changed=changed
            )
        )

    def rest(self) -> None:
        """The pass is over: the run waits, or is about to close."""
        result = self._state.result
        self.enter("Waiting" if self._state.waiting else "Settled", result.reason, result.message)

    def tell(self, reason: str = "", message: str = "") -> None:
        """Write the current details anew; they cost nothing."""
        workflow.set_current_details(
            sync_details(
                self.plan, phase=self.phase, waves_done=self.waves_done, reason=reason, message=message
            )
        )
