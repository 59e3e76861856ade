"""CPU of a process, read from /proc."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    """Return the CPU time that a process has used so far."""
    # Behind the name, which may hold anything: fields 14 and 15 are user and system time.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


async def cpu_percent(pids: Sequence[int], *, seconds: float) -> list[float]:
    """Return the share of one core that each process uses during the next seconds, in percent."""
    before, began = [cpu_seconds(pid) for pid in pids], time.monotonic()
    await asyncio.sleep(seconds)
    took = time.monotonic() - began
    return [100 * (cpu_seconds(pid) - used) / took for pid, used in zip(pids, before, strict=True)]


def pid_of(*words: str) -> int:
    """Return the process whose command line has all of these arguments. Raises RuntimeError where there is none."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            arguments = path.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue  # it has ended meanwhile
        if set(words) <= set(arguments):
            return int(path.parent.name)
    raise RuntimeError(f"no process has {' '.join(words)} in its command line")
