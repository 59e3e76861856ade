"""A stack ends with its owner, even when the owner had no chance to stop it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from deploy.stack.state import read

CHECKOUT = Path(__file__).resolve().parents[2]
OWNER = """
import signal, sys, time
from pathlib import Path
from deploy.stack.keeper import kept
from deploy.stack.processes import start, stop
from deploy.stack.state import claim, clear, write

# A run in the background inherits an ignored SIGINT, and this process would never end.
signal.signal(signal.SIGINT, signal.SIG_DFL)
folder = Path(sys.argv[1])
state = claim(folder)
with kept(folder):
    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    state = state.with_server(start("etcd", command, log=folder / "etcd.log", cwd=folder))
    write(folder, state)
    print("ready", flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_the_servers_of_an_owner_that_is_killed_are_stopped(number: signal.Signals, tmp_path: Path) -> None:
    folder = tmp_path / "stack"
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(folder)],
        cwd=CHECKOUT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == b"ready\n"
        state = read(folder)
        assert state is not None

        os.kill(owner.pid, number)
        owner.wait(timeout=30)

    deadline = time.monotonic() + 30
    while folder.exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert not any(server.is_running() for server in state.servers)
