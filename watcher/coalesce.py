"""One signal at a time to a Release, and at most one a second.

300 unthrottled signals to one workflow slowed its first pass to the length of the flood (measured, design 04 rule
17). So events only mark a Release; whoever handles the mark looks at the Release as it is then.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

import structlog

K = TypeVar("K")

log = structlog.get_logger(__name__)


class Coalescer(Generic[K]):
    """Calls `handle(key)` for marked keys: never twice at once for one, and `pause` seconds apart."""

    def __init__(
        self,
        handle: Callable[[K], Awaitable[None]],
        *,
        pause: float = 1.0,
        parallel: int = 16,
        max_backoff: float = 30.0,
    ) -> None:
        self._handle = handle
        self._pause = pause
        self._parallel = parallel
        self._max_backoff = max_backoff
        self._queue: asyncio.Queue[K] = asyncio.Queue()
        self._waiting: set[K] = set()
        self._resting: set[K] = set()
        self._marked_again: set[K] = set()
        self._failures: dict[K, int] = {}

    def mark(self, key: K) -> None:
        """Ask for a call; marks that come before it are one."""
        if key in self._resting:
            self._marked_again.add(key)
        elif key not in self._waiting:
            self._waiting.add(key)
            self._queue.put_nowait(key)

    async def run(self) -> None:
        """Handle marks until cancelled."""
        async with asyncio.TaskGroup() as group:
            for _ in range(self._parallel):
                group.create_task(self._work())

    async def _work(self) -> None:
        while True:
            key = await self._queue.get()
            self._waiting.discard(key)
            self._resting.add(key)
            started = time.monotonic()
            try:
                await self._handle(key)
            except Exception as error:  # noqa: BLE001 (one Release must not stop the signals to all others)
                self._failures[key] = self._failures.get(key, 0) + 1
                self._marked_again.add(key)
                log.warning("signal-not-sent", key=str(key), error=str(error), failures=self._failures[key])
            else:
                self._failures.pop(key, None)
            rest = min(self._pause * 2.0 ** min(self._failures.get(key, 0), 10), self._max_backoff)
            asyncio.get_running_loop().call_later(
                max(0.0, started + max(rest, self._pause) - time.monotonic()), self._wake, key
            )

    def _wake(self, key: K) -> None:
        self._resting.discard(key)
        if key in self._marked_again:
            self._marked_again.discard(key)
            self.mark(key)
