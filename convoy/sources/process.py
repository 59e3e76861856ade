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

_CHUNK: Final = 64 * 1024


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
        child = await asyncio.create_subprocess_exec(
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
        _limit(child.pid, limits)
        async with asyncio.timeout(limits.seconds):
            return await _finish(child, program, limits)
    except TimeoutError:
        raise ChildFailed(f"{program} did not finish within {limits.seconds:g} s") from None
    finally:
        await _end(child)


async def _finish(child: asyncio.subprocess.Process, program: str, limits: ProcessLimits) -> Finished:
    if child.stdout is None or child.stderr is None:
        raise ChildFailed(f"{program} has no pipes")
    # Both are drained side by side: a full pipe nobody reads would stop the child for ever.
    errors = asyncio.create_task(_drain(child.stderr, keep=16 * 1024))
    try:
        output = await _read(child.stdout, limits.output_bytes)
        if output is None:
            raise ChildFailed(f"{program} wrote more than {limits.output_bytes} bytes")
        code = await child.wait()
        return Finished(code, output, (await errors).decode(errors="replace"))
    finally:
        errors.cancel()


async def _read(stream: asyncio.StreamReader, limit: int) -> bytes | None:
    parts, size = [], 0
    while part := await stream.read(_CHUNK):
        size += len(part)
        if size > limit:
            return None
        parts.append(part)
    return b"".join(parts)


async def _drain(stream: asyncio.StreamReader, *, keep: int) -> bytes:
    kept = b""
    while part := await stream.read(_CHUNK):
        kept += part[: keep - len(kept)]
    return kept


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


async def _end(child: asyncio.subprocess.Process) -> None:
    # The group, since git's helpers outlive git; it is gone where all of them ended.
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    await child.wait()
