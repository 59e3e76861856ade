"""Stored histories replay: a run that was open before a change of the workflows goes on after it.

A failure here means that the change is not deterministic for open runs: guard it with `workflow.patched`, or, where no
release has gone out with the old code, record anew (`.venv/bin/python -m tests.workflows.record_histories`).
"""

from __future__ import annotations

import base64
import getpass
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from temporalio import workflow
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer

from tests.workflows.record_histories import HISTORIES
from workers.converter import DATA_CONVERTER
from workers.surplus import DropSurplusInput
from workers.worker import WORKFLOWS, workflow_runner
from workflows import history

STORED = sorted(HISTORIES.glob("*.json"))


def test_there_are_histories_of_all_workflows() -> None:
    assert {path.stem.partition("-")[0] for path in STORED} == {"sync", "drift", "health"}


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
async def test_a_stored_history_replays(path: Path) -> None:
    await replay(path)


async def test_code_that_takes_another_way_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "EVENTS", 20)  # would continue as new before the second wave
    with pytest.raises(workflow.NondeterminismError):
        await replay(HISTORIES / "sync-first.json")


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_a_stored_history_is_small_and_tells_nothing_of_the_machine(path: Path) -> None:
    text = path.read_text()
    assert len(text) < 150_000
    here = {socket.gethostname(), str(Path(__file__).parents[2]), f"{getpass.getuser()}@"}
    told = "\n".join([text, *payloads(json.loads(text))])
    assert [name for name in here if name in told] == []
    assert "/tmp/" not in told


async def replay(path: Path) -> None:
    """Replay a stored history against the workflows as they are now."""
    replayer = Replayer(
        workflows=WORKFLOWS,
        workflow_runner=workflow_runner(),
        interceptors=[DropSurplusInput()],
        data_converter=DATA_CONVERTER,
    )
    await replayer.replay_workflow(stored(path))


def stored(path: Path) -> WorkflowHistory:
    """Read a history; it knows its workflow's id."""
    tree = json.loads(path.read_text())
    started = tree["events"][0]["workflowExecutionStartedEventAttributes"]
    return WorkflowHistory.from_json(started["workflowId"], tree)


def payloads(tree: Any) -> Iterator[str]:
    """Yield the payloads of a history in the clear."""
    if isinstance(tree, dict):
        if isinstance(data := tree.get("data"), str):
            yield base64.b64decode(data).decode()
        tree = list(tree.values())
    if isinstance(tree, list):
        for one in tree:
            yield from payloads(one)
