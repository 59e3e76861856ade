"""The right of one activity attempt to go on writing.

An attempt that timed out goes on writing when its worker wakes (tried with SIGSTOP), while Temporal has started the
next attempt already. So each attempt asks here before each request: after a silence as long as the heartbeat
timeout the right is lost for good, and a worker that shuts down hands the step over (design 04, rules 11 and 12).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self

from temporalio import activity

from convoy.api.objects import Manifest
from convoy.sync.interruptions import Fenced

BEAT_SECONDS = 5.0
SILENCE_SECONDS = 30.0
"""The longest silence of an attempt that was given no heartbeat timeout."""

Build = Callable[[Manifest], Manifest | None]
"""Makes a manager's status of an object as it is; None: there is nothing to write (`write_status`)."""


class Lease:
    """Heartbeats in the background as long as its block runs; `details` is what the next attempt resumes from."""

    def __init__(
        self,
        *,
        details: Sequence[Any] = (),
        timeout: float | None = None,
        beat: Callable[..., None] = activity.heartbeat,
        shutting_down: Callable[[], bool] = activity.is_worker_shutdown,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.details = details
        self._timeout = timeout if timeout is not None else _heartbeat_seconds()
        self._beat = beat
        self._shutting_down = shutting_down
        self._clock = clock
        self._last = clock()
        self._lost = False
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if not self._lost:
            # The next attempt, if any, starts from the last details and not from those of some seconds ago.
            self._beat(*self.details)

    @property
    def lost(self) -> bool:
        """Whether this attempt was silent for so long that another one may have begun."""
        if self._clock() - self._last > self._timeout:
            self._lost = True
        return self._lost

    def should_stop(self) -> bool:
        """Whether to stop before the next request: the right is lost, or the worker shuts down."""
        return self.lost or self._shutting_down()

    def fenced(self, build: Build) -> Build:
        """Return what builds a status only while the right lasts, and otherwise raises `Fenced`.

        A write that lost against others is built again, so a worker that was frozen in it would overwrite them.
        """

        def build_while_it_lasts(tree: Manifest) -> Manifest | None:
            if self.lost:
                raise Fenced
            return build(tree)

        return build_while_it_lasts

    async def _run(self) -> None:
        while not self.lost:
            self._beat(*self.details)
            self._last = self._clock()
            await asyncio.sleep(min(BEAT_SECONDS, self._timeout / 3))


def _heartbeat_seconds() -> float:
    timeout = activity.info().heartbeat_timeout
    return timeout.total_seconds() if timeout else SILENCE_SECONDS
