"""Servers are started detached, and stopped by process id without ever hitting another process."""

from __future__ import annotations

import dataclasses
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from deploy.stack.processes import Server, ServerFailed, start, start_time, stop

Run = Callable[[str], Server]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Start a Python program as a server; whatever still runs at the end is stopped."""
    servers: list[Server] = []

    def run_program(program: str) -> Server:
        name = f"server-{len(servers)}"
        command = [sys.executable, "-c", program]
        server = start(name, command, log=tmp_path / f"{name}.log", cwd=tmp_path)
        servers.append(server)
        return server

    yield run_program
    stop(servers, grace=0.1)


def eventually(check: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not check():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_server_runs_until_it_is_stopped(run: Run) -> None:
    server = run("import time; time.sleep(600)")
    assert server.is_running()

    stop([server])

    assert not server.is_running()


def test_a_server_leads_a_process_group_of_its_own(run: Run) -> None:
    server = run("import time; time.sleep(600)")

    assert os.getpgid(server.pid) == server.pid != os.getpgid(0)


def test_a_server_that_ignores_sigterm_is_killed(run: Run) -> None:
    server = run(
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True)\n"
        "time.sleep(600)"
    )
    eventually(lambda: "deaf" in server.tail())

    stop([server], grace=0.2)

    assert not server.is_running()


def test_the_children_of_a_server_end_with_it(run: Run) -> None:
    server = run(
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "print(child.pid, flush=True); child.wait()"
    )
    eventually(lambda: server.tail() != "")
    child = int(server.tail())

    stop([server])

    eventually(lambda: not Path(f"/proc/{child}").exists() or "Z" in Path(f"/proc/{child}/stat").read_text())


def test_a_process_that_got_the_pid_of_a_dead_server_is_left_alone(run: Run) -> None:
    stranger = run("import time; time.sleep(600)")
    dead = dataclasses.replace(stranger, started="1")

    stop([dead])

    assert not dead.is_running()
    assert stranger.is_running()


def test_a_server_that_ended_at_once_does_not_count_as_running(run: Run) -> None:
    server = dataclasses.replace(run("raise SystemExit"), started="")
    eventually(lambda: start_time(server.pid) == "")

    assert not server.is_running()


def test_the_error_for_a_server_that_ended_shows_its_name_and_the_end_of_its_log(run: Run) -> None:
    server = run("import sys; sys.exit('cannot open the database')")
    eventually(lambda: not server.is_running())

    with pytest.raises(ServerFailed, match=r"(?s)server-0 ended.*cannot open the database"):
        server.check()
