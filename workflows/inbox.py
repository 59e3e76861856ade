"""The requests that a Sync has not taken yet: none is lost, and what is one wish makes one pass (D22, D23)."""

from __future__ import annotations

from dataclasses import replace

from convoy.policy.trigger import Trigger
from workflows.contract import SyncRequest
from workflows.state import SyncState

LIMIT = 100
"""Requests that are kept, and ids that are remembered: a flood must not outgrow a payload."""


class Inbox:
    """The inbox of a run; all that it knows lies in the run's state, and so survives continue-as-new."""

    def __init__(self, state: SyncState) -> None:
        self._state = state

    def __len__(self) -> int:
        return len(self._state.inbox)

    def append(self, request: SyncRequest) -> None:
        """Take a request unless it is known already; one that means the same as another joins it."""
        if request.id:
            if request.id in self._state.seen:
                return
            self._remember(request.id)
        inbox = self._state.inbox
        for place, other in enumerate(inbox):
            if (other.trigger, other.uid) == (request.trigger, request.uid):
                # One pass answers both, so a flood of requests is one request.
                delay = min(request.delay_ms, other.delay_ms)
                inbox[place] = replace(request, force=request.force or other.force, delay_ms=delay)
                return
        self._state.inbox = [*inbox[1 - LIMIT :], request]

    def take(self) -> tuple[SyncRequest, ...]:
        """Hand over what a pass that begins now answers."""
        taken, self._state.inbox = self._state.inbox, []
        return tuple(taken)

    def answered(self, request_id: str) -> None:
        """Forget a request that the running pass answers, also where the watcher's echo of it is yet to come."""
        self._remember(request_id)
        self._state.inbox = [other for other in self._state.inbox if other.id != request_id]

    def has(self, trigger: Trigger, *, uid: str) -> bool:
        """Return whether a request of this kind waits, about the Release with this UID (D39)."""
        return any((request.trigger, request.uid) == (trigger, uid) for request in self._state.inbox)

    def _remember(self, request_id: str) -> None:
        self._state.seen = [*self._state.seen[-LIMIT:], request_id]
