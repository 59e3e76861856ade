"""`convoy run` as a process of its own, as an installation would have it, with its log in a file."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
STARTED = ('"worker-started"', '"watcher-started"')
"""Both are in the log once the process works; the second only where it got the Lease."""


class ConvoyEnded(Exception):
    """The process ended or did not start to work; the message has the end of its log."""


class ConvoyProcess:
    """One process at a time, started again after `stop` or `kill` with the same log."""

    def __init__(self, environment: Mapping[str, str], log: Path) -> None:
        self._environment = environment
        self._log = log
        self._process: asyncio.subprocess.Process | None = None
        log.touch()

    async def start(self, *, within: float = 120.0) -> None:
        """Start, and wait until worker and watcher work. Raises ConvoyEnded."""
        began = self.mark()
        with self._log.open("ab") as output:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "workers", "run", "--log-format", "json",
                cwd=ROOT, env=os.environ | self._environment, stdout=output, stderr=output,
            )  # fmt: skip
        try:
            async with asyncio.timeout(within):
                while not all(text in self.log_since(began) for text in STARTED):
                    self.require_running()
                    await asyncio.sleep(0.1)
        except TimeoutError:
            await self.kill()
            raise ConvoyEnded(f"convoy does not work after {within:g} s:\n{self.tail(began)}") from None

    async def stop(self) -> None:
        """End it as an operator would: SIGTERM, and wait until it has let its activities finish."""
        await self._end(signal.SIGTERM)

    async def kill(self) -> None:
        """End it as a crash would: SIGKILL."""
        await self._end(signal.SIGKILL)

    def require_running(self) -> None:
        """Raise ConvoyEnded where the process is gone."""
        if self._process is None or self._process.returncode is not None:
            code = self._process.returncode if self._process is not None else "none"
            raise ConvoyEnded(f"convoy ended with exit code {code}:\n{self.tail()}")

    def mark(self) -> int:
        """Return a place in the log, for `log_since`."""
        return self._log.stat().st_size

    def log_since(self, mark: int) -> str:
        """Return what was logged after a mark."""
        with self._log.open("rb") as log:
            log.seek(mark)
            return log.read().decode(errors="replace")

    def tail(self, mark: int = 0, *, lines: int = 40) -> str:
        """Return the last lines that were logged after a mark."""
        return "\n".join(self.log_since(mark).splitlines()[-lines:])

    async def _end(self, number: signal.Signals) -> None:
        if self._process is None or self._process.returncode is not None:
            return
        self._process.send_signal(number)
        await self._process.wait()
