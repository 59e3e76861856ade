"""Child processes with limits: time, output, memory, file size (D5). git and kustomize run as such.

They work on a tenant's input. So nothing of the worker's environment reaches them, they have no terminal to
ask questions on, and at the time limit the whole process group is killed, helpers (ssh, remote-https)
included.
"""

from __future__ import annotations

import asyncio
import os
import resource
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

_STDERR: Final = 2
_KEPT_ERRORS: Final = 16 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessLimits:
    """What one child process may use."""

    seconds: float = 60.0
    output_bytes: int = 64 * 1024 * 1024
    """Of standard output; standard error is cut silently."""
    memory_bytes: int = 1024**3
    """Private memory (RLIMIT_DATA)."""
    file_bytes: int = 512 * 1024 * 1024
    """Size of any file that it writes (RLIMIT_FSIZE): a pack of git that never ends."""


@dataclass(frozen=True, slots=True)
class Finished:
    """How a child process ended."""

    code: int
    """Exit code; negative for a signal."""
    output: bytes = field(repr=False)
    errors: str = field(repr=False)
    """Standard error, its first 16 KiB. It may quote the input: scrub it before showing it."""


class ChildFailed(Exception):
    """A child process could not be started, took too long or wrote too much."""


async def run(
    argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], limits: ProcessLimits | None = None
) -> Finished:
    """Run a program to its end.

    Args:
        argv: the program and its arguments. Other users of the machine can read them: no credentials.
        cwd: where it runs.
        env: its whole environment.
        limits: its limits.

    Raises:
        ChildFailed: it is missing, took too long or wrote too much; the message names the program.
    """
    limits = limits or ProcessLimits()
    program = Path(argv[0]).name
    try:
        transport, child = await asyncio.get_running_loop().subprocess_exec(
            lambda: _Child(limits.output_bytes),
            *argv,
            cwd=cwd,
            env=dict(env),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise ChildFailed(f"{program} cannot be started: {error.strerror}") from None
    try:
        _limit(transport.get_pid(), limits)
        async with asyncio.timeout(limits.seconds):
            await child.done.wait()
    except TimeoutError:
        raise ChildFailed(f"{program} did not finish within {limits.seconds:g} s") from None
    finally:
        await _end(transport, child)
    if child.has_too_much:
        raise ChildFailed(f"{program} wrote more than {limits.output_bytes} bytes")
    code = transport.get_returncode()
    if code is None:
        raise ChildFailed(f"{program} has ended without a code")
    return Finished(code, bytes(child.output), child.errors.decode(errors="replace"))


class _Child(asyncio.SubprocessProtocol):
    """What comes from a child. `asyncio.subprocess.Process` may wait for ever for one whose output nobody reads."""

    def __init__(self, limit: int) -> None:
        self.output = bytearray()
        self.errors = bytearray()
        self.has_too_much = False
        self.exited = asyncio.Event()
        self.done = asyncio.Event()
        """It has exited and said all, or said too much."""
        self._limit = limit

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == _STDERR:
            self.errors += data[: _KEPT_ERRORS - len(self.errors)]
        elif len(self.output) + len(data) > self._limit:
            self.has_too_much = True
            self.done.set()
        else:
            self.output += data

    def process_exited(self) -> None:
        self.exited.set()

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self.done.set()


def _limit(pid: int, limits: ProcessLimits) -> None:
    if not hasattr(resource, "prlimit"):
        return  # only Linux can limit a process that runs already; time and output are limited everywhere
    for which, value in (
        (resource.RLIMIT_DATA, limits.memory_bytes),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(ProcessLookupError):
            resource.prlimit(pid, which, (value, value))


async def _end(transport: asyncio.SubprocessTransport, child: _Child) -> None:
    # The group, since git's helpers outlive git; it is gone where all of them ended.
    with suppress(ProcessLookupError):
        os.killpg(transport.get_pid(), signal.SIGKILL)
    try:
        await child.exited.wait()
    finally:
        transport.close()  # also the pipes, which a process that left the group may hold
