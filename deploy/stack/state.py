"""The state file of a stack: which processes it has and who owns it, so that any later run can stop them.

It is complete from the moment it exists, and written again after every start of a server, so a crash at any moment
leaves a file that can be read, and at most one server (the one being started) that is not in it.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from deploy.stack.processes import Server, start_time, stop

_FILE = "stack.json"


class StackError(Exception):
    """The stack cannot be started or used; the message says what to do."""


@dataclass(frozen=True, slots=True)
class State:
    """What is known about one stack.

    `owner` is the process that stops the stack at its end; None for one that outlives the command that
    started it. `endpoints` is empty until every server is healthy.
    """

    owner: Server | None
    servers: tuple[Server, ...] = ()
    endpoints: Mapping[str, str] | None = None

    def is_running(self) -> bool:
        """Tell whether the start was finished and every server still runs."""
        return self.endpoints is not None and all(server.is_running() for server in self.servers)

    def with_server(self, server: Server) -> State:
        """Return the state with one server more."""
        return replace(self, servers=(*self.servers, server))


def this_process() -> Server:
    """Return the record of this process, as the owner of a stack."""
    pid = os.getpid()
    return Server(name="owner", pid=pid, started=start_time(pid), log="")


def read(folder: Path) -> State | None:
    """Read the state of the stack in `folder`; None when there is none. Raises StackError when it is damaged."""
    try:
        tree = json.loads((folder / _FILE).read_text())
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise StackError(f"{folder / _FILE} is damaged; remove the folder {folder}: {error}") from error
    return State(
        owner=Server(**tree["owner"]) if tree["owner"] else None,
        servers=tuple(Server(**entry) for entry in tree["servers"]),
        endpoints=tree["endpoints"],
    )


def write(folder: Path, state: State) -> None:
    """Replace the state file."""
    temporary = folder / f"{_FILE}.new"
    temporary.write_text(json.dumps(asdict(state), indent=1))
    temporary.replace(folder / _FILE)


def claim(folder: Path) -> State:
    """Take `folder` for a new stack of this process, after clearing what a dead one left there.

    Raises StackError when a living process owns it, when a stack runs there on its own, and when the folder
    holds something that no stack wrote.
    """
    previous = read(folder)
    if previous is None and folder.is_dir() and any(folder.iterdir()):
        raise StackError(f"{folder} is not empty and holds no stack; name another folder")
    if previous is not None:
        if previous.owner is not None and previous.owner.is_running():
            raise StackError(
                f"the stack in {folder} belongs to the running process {previous.owner.pid}; stop that first"
            )
        if previous.owner is None and previous.is_running():
            down = f".venv/bin/python -m deploy.stack down {folder}"
            raise StackError(f"a stack runs in {folder}; stop it with: {down}")
        clear(folder)
    folder.mkdir(parents=True, exist_ok=True)
    state = State(owner=this_process())
    complete = folder / f"{_FILE}.{os.getpid()}"
    complete.write_text(json.dumps(asdict(state)))
    try:
        (folder / _FILE).hardlink_to(complete)
    except FileExistsError:
        raise StackError(f"another process starts a stack in {folder} at this moment") from None
    finally:
        complete.unlink()
    return state


def clear(folder: Path) -> int:
    """Stop every server recorded in `folder` and remove the folder; return how many were still running."""
    state = read(folder)
    if state is None:
        return 0
    running = [server for server in state.servers if server.is_running()]
    stop(running)
    shutil.rmtree(folder, ignore_errors=True)
    return len(running)


def sweep(base: Path) -> int:
    """Clear every folder below `base` whose owner has died; return how many there were."""
    cleared = 0
    for folder in sorted(base.iterdir()) if base.is_dir() else ():
        state = read(folder)
        if state is not None and state.owner is not None and not state.owner.is_running():
            clear(folder)
            cleared += 1
    return cleared
