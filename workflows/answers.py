"""Who asked by the update `sync`, and what they are told: the result of the first pass that began after they asked."""

from __future__ import annotations

from temporalio import workflow

from workflows.contract import Settled


class Answers:
    """The updates of a run that are not answered yet. A run never continues as new with one of them open."""

    def __init__(self) -> None:
        self._asking: list[str] = []
        self._answering: list[str] = []
        self._given: dict[str, Settled] = {}

    @property
    def unread(self) -> bool:
        """Whether somebody has an answer and did not read it yet: the run may not go on or close."""
        return bool(self._given)

    def ask(self, update_id: str) -> None:
        """Note who asks: the next pass answers, not one that runs already."""
        self._asking.append(update_id)

    def pass_begins(self) -> None:
        """From now on a result answers all who have asked."""
        self._answering, self._asking = [*self._answering, *self._asking], []

    def give(self, settled: Settled) -> None:
        """Answer all whom this pass answers."""
        self._given |= dict.fromkeys(self._answering, settled)
        self._answering = []

    async def read(self, update_id: str) -> Settled:
        """Wait for the answer."""
        await workflow.wait_condition(lambda: update_id in self._given)
        return self._given.pop(update_id)
