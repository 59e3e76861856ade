"""One folder a stack: who may take it, and what is cleared from it."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import pytest

from deploy.stack.processes import Server, start
from deploy.stack.state import StackError, State, claim, clear, read, sweep, this_process, write

DEAD = Server(name="owner", pid=1, started="never", log="")


def left_behind(folder: Path, *, owner: Server | None) -> Server:
    """Write the state of a stack with one running server; the start of it was never finished."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    server = start("etcd", command, log=folder / "etcd.log", cwd=folder)
    write(folder, State(owner=owner, servers=(server,)))
    return server


def test_a_new_folder_belongs_to_the_process_that_claims_it(tmp_path: Path) -> None:
    claim(tmp_path / "stack")

    state = read(tmp_path / "stack")
    assert state is not None
    assert state.owner == this_process()
    assert not state.is_running()


def test_a_folder_without_a_stack_has_no_state(tmp_path: Path) -> None:
    assert read(tmp_path) is None
    assert clear(tmp_path) == 0


def test_a_folder_of_a_living_process_is_refused(tmp_path: Path) -> None:
    claim(tmp_path / "stack")

    with pytest.raises(StackError, match=f"belongs to the running process {this_process().pid}"):
        claim(tmp_path / "stack")


def test_a_folder_with_other_things_in_it_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")

    with pytest.raises(StackError, match="is not empty and holds no stack"):
        claim(tmp_path)

    assert (tmp_path / "letter.txt").read_text() == "dear"


def test_the_servers_that_a_dead_owner_left_are_stopped_at_the_next_start(tmp_path: Path) -> None:
    server = left_behind(tmp_path / "stack", owner=DEAD)

    state = claim(tmp_path / "stack")

    assert not server.is_running()
    assert state.servers == ()
    assert [path.name for path in (tmp_path / "stack").iterdir()] == ["stack.json"]


def test_a_detached_stack_that_runs_is_refused_with_the_command_that_stops_it(tmp_path: Path) -> None:
    folder = tmp_path / "stack"
    left_behind(folder, owner=None)
    state = read(folder)
    assert state is not None
    write(folder, dataclasses.replace(state, endpoints={}))

    with pytest.raises(StackError, match=r"deploy\.stack down"):
        claim(folder)

    assert clear(folder) == 1


def test_a_sweep_clears_the_folders_of_dead_owners_alone(tmp_path: Path) -> None:
    stale = left_behind(tmp_path / "stale", owner=DEAD)
    mine = left_behind(tmp_path / "mine", owner=this_process())
    detached = left_behind(tmp_path / "detached", owner=None)

    assert sweep(tmp_path) == 1

    assert not stale.is_running()
    assert mine.is_running()
    assert detached.is_running()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["detached", "mine"]
    clear(tmp_path / "mine")
    clear(tmp_path / "detached")


def test_a_damaged_state_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "stack.json").write_text("{")

    with pytest.raises(StackError, match=r"stack\.json is damaged"):
        claim(tmp_path)
