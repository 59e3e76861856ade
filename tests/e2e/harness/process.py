"""`convoy run`, `worker` or `watcher` as a process of its own, as an installation has it, with its log in a file."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
STARTED = {"run": ('"worker-started"', '"watcher-started"'), "worker": ('"worker-started"',), "watcher": ()}
"""What is in the log once a process works. A watcher may have to wait for the Lease, so nothing is asked of it."""


class ConvoyEnded(Exception):
    """The process ended or did not start to work; the message has the end of its log."""


class ConvoyProcess:
    """One process at a time, started again after `stop` or `kill` with the same log."""

    def __init__(self, environment: Mapping[str, str], log: Path, *, command: str = "run") -> None:
        self._environment = environment
        self._command = command
        self._log = log
        self._process: asyncio.subprocess.Process | None = None
        log.touch()

    async def start(self, *, within: float = 120.0) -> None:
        """Start, and wait until it works. Raises ConvoyEnded."""
        began = self.mark()
        with self._log.open("ab") as output:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "workers", self._command, "--log-format", "json",
                cwd=ROOT, env=os.environ | self._environment, stdout=output, stderr=output,
            )  # fmt: skip
        try:
            async with asyncio.timeout(within):
                while not all(text in self.log_since(began) for text in STARTED[self._command]):
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

    def freeze(self) -> None:
        """Stop its clock, as a machine that hangs would: SIGSTOP. It goes on with `thaw`."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on: SIGCONT."""
        self._signal(signal.SIGCONT)

    @property
    def exit_code(self) -> int | None:
        """None while it runs, and before its first start."""
        return self._process.returncode if self._process is not None else None

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
        self._signal(number)
        await self._process.wait()

    def _signal(self, number: signal.Signals) -> None:
        self.require_running()
        if self._process is not None:
            self._process.send_signal(number)
