"""Renders of the latest steps as objects: the next step of a sync mostly runs in this very process."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from convoy.api.rendered import Render

MAX_BYTES: Final = 8 * 1024 * 1024
"""Encoded bytes of the renders in memory; as objects they take about ten times as much."""


@dataclass(frozen=True, slots=True)
class Held:
    """A render in memory."""

    render: Render
    size: int
    """Its encoded bytes."""
    mark: str = ""
    """Which writing of the store's file it was read from, where it was."""


class Memory:
    """Renders by path, the least recently used ones go first."""

    def __init__(self, *, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._held: OrderedDict[str, Held] = OrderedDict()

    def get(self, path: str) -> Held | None:
        """Return what is held under this path, or None."""
        if path in self._held:
            self._held.move_to_end(path)
        return self._held.get(path)

    def put(self, path: str, held: Held) -> None:
        """Hold a render; the newest one is held whatever its size."""
        self._held[path] = held
        self._held.move_to_end(path)
        while len(self._held) > 1 and sum(each.size for each in self._held.values()) > self._max_bytes:
            self._held.popitem(last=False)
