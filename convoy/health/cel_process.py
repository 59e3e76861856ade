"""The other end of `cel_child`: it is started with the first question, and again where a question has ended it."""

from __future__ import annotations

import asyncio
import atexit
import select
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache
from typing import Final, TypeVar

import msgspec

from convoy.api.objects import Manifest
from convoy.health.cel_child import CPU_SECONDS, MEMORY_BYTES

T = TypeVar("T")

_WALL_SECONDS: Final = 30.0
"""For one answer: a machine may stand still, but not for so long."""
_TOO_COSTLY: Final = f"its evaluation takes more than {CPU_SECONDS:g} s or {MEMORY_BYTES // 1024**2} MiB"
_REFUSED_SECONDS: Final = 600.0
"""How long an expression that has ended the process is not tried again: others wait for the same process."""

# One thread, so that questions come one at a time; and its own, so that nobody else's work waits for an answer.
_THREAD: Final = ThreadPoolExecutor(max_workers=1, thread_name_prefix="cel")


async def beside_the_loop(judge: Callable[[], T]) -> T:
    """Run what asks for values of expressions, and let the event loop go on."""
    return await asyncio.get_running_loop().run_in_executor(_THREAD, judge)


class Evaluator:
    """Asks the child process. For one thread at a time."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._refused: dict[str, float] = {}

    def ask(self, text: str, live: Manifest) -> tuple[bool | None, str]:
        """Return whether an expression holds for an object; else None, and why it has no value."""
        if time.monotonic() < self._refused.get(text, 0.0):
            return None, _TOO_COSTLY
        try:
            question = msgspec.json.encode((text, live)) + b"\n"
        except (TypeError, ValueError, OverflowError) as error:
            return None, f"the object is no JSON: {type(error).__name__}"
        child = self._running()
        if child.stdin is None or child.stdout is None:
            raise RuntimeError("the process has no pipes")
        line = b""
        with suppress(BrokenPipeError):
            child.stdin.write(question)
            child.stdin.flush()
            if select.select([child.stdout], [], [], _WALL_SECONDS)[0]:
                line = child.stdout.readline()
        if line:
            return msgspec.json.decode(line, type=tuple[bool | None, str])
        return None, self._lost(text)

    def close(self) -> None:
        """End the process."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.communicate()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._child is not None and self._child.poll() is not None:
            self.close()  # somebody else has ended it
        if self._child is None:
            code = "import sys; sys.path[:] = sys.argv[1:]; from convoy.health.cel_child import main; main()"
            self._child = subprocess.Popen(
                [sys.executable, "-c", code, *sys.path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,  # what the library says as it ends
                env={},
            )
        return self._child

    def _lost(self, text: str) -> str:
        self.close()
        now = time.monotonic()
        self._refused = {known: until for known, until in self._refused.items() if until > now}
        self._refused[text] = now + _REFUSED_SECONDS
        return _TOO_COSTLY


@lru_cache(maxsize=1)
def evaluator() -> Evaluator:
    """Return the one of this process."""
    one = Evaluator()
    atexit.register(one.close)
    return one
