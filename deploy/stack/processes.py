"""Start a server as a child process and stop it by its process id, now or in a later run.

Hazard: a pid alone names a process only until it is reused. Each server is recorded with the time at which
the kernel started it, and nothing is ever signalled whose start time differs. Every server leads a process
group of its own, so that Ctrl-C in a terminal reaches only the program that owns the stack, which then stops
the servers in order, and so that a server's own children go with it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_TAIL = 25


class ServerFailed(Exception):
    """A server of the stack ended or did not become healthy; the message ends with its log's tail."""


@dataclass(frozen=True, slots=True)
class Server:
    """A process that the stack started: enough to find and to stop it from another process."""

    name: str
    pid: int
    started: str
    """What the system says about when this pid was started: opaque; empty when it had ended at once."""
    log: str

    def is_running(self) -> bool:
        """Tell whether this very process still runs (not another one with its pid, not a zombie)."""
        return self.started != "" and start_time(self.pid) == self.started

    def tail(self) -> str:
        """Return the last lines of the server's log."""
        try:
            lines = Path(self.log).read_text(errors="replace").splitlines()
        except FileNotFoundError:
            return ""
        return "\n".join(lines[-_TAIL:])

    def check(self) -> None:
        """Raise ServerFailed when the process has ended."""
        if not self.is_running():
            raise ServerFailed(f"{self.name} ended; the end of {self.log}:\n{self.tail()}")


def start_time(pid: int) -> str:
    """Return when `pid` was started, as the system tells it; empty for no such process and for a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return "" if Path("/proc/self").exists() else _start_time_by_ps(pid)
    return "" if fields[0] == "Z" else fields[19]


def _start_time_by_ps(pid: int) -> str:
    answer = subprocess.run(
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return "" if answer.stdout.strip().startswith("Z") else answer.stdout.strip().partition(" ")[2]


def start(name: str, command: Sequence[str | Path], *, log: Path, cwd: Path) -> Server:
    """Start a server detached from the terminal, with its output in `log`. Raises OSError."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            start_new_session=True,
        )
    _children.append(process)
    return Server(name=name, pid=process.pid, started=start_time(process.pid), log=str(log))


_children: list[subprocess.Popen[bytes]] = []
"""This process's children: to reap them, and since a Popen dropped while its process runs warns."""


def stop(servers: Sequence[Server], *, grace: float = 10.0) -> None:
    """Stop these servers, the last one first: SIGTERM to its group, SIGKILL after `grace` seconds."""
    for server in reversed(servers):
        if not server.is_running():
            continue
        _signal(server, signal.SIGTERM)
        if not _ended(server, grace):
            _signal(server, signal.SIGKILL)
            _ended(server, grace)
    pids = {server.pid for server in servers}
    for child in [child for child in _children if child.pid in pids]:
        # A process of many threads counts as ended a moment before it can be waited for.
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(timeout=grace)
    _reap()


def _signal(server: Server, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(server.pid, number)


def _ended(server: Server, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while server.is_running():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
        _reap()
    return True


def _reap() -> None:
    for child in [child for child in _children if child.poll() is not None]:
        _children.remove(child)
