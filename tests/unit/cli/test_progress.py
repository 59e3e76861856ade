"""Progress: a line for each change off a terminal, a picture on one."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from convoy.cli.progress import drawn, progress_of


def release(
    *waves: dict[str, Any], hooks: tuple[dict[str, Any], ...] = (), reason: str = ""
) -> dict[str, Any]:
    conditions = (
        [{"type": "Applied", "status": "False", "reason": reason, "message": "told"}] if reason else []
    )
    return {"status": {"waves": list(waves), "hooks": list(hooks), "conditions": conditions}}


def wave(phase: str, applied: int) -> dict[str, Any]:
    return {"wave": 0, "phase": phase, "applied": applied, "objects": 40}


def test_each_change_is_told_once_and_the_past_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_of(release(wave("Applied", 40))) as progress:
        for tree in (
            release(wave("Applied", 40)),
            release(wave("Applying", 1)),
            release(wave("Applying", 20), reason="WaitingForHook"),
            release(wave("Applied", 40), hooks=({"name": "migrate", "phase": "Running"},)),
        ):
            progress.show(tree)
            progress.show(tree)
        progress.end("applied")
    assert capsys.readouterr().out.splitlines() == [
        "wave 0: Applying",
        "Applied: WaitingForHook: told",
        "wave 0: Applied, 40 of 40 objects",
        "hook migrate: Running",
        "done: applied",
    ]


def test_the_picture_shows_waves_hooks_and_what_is_waited_for() -> None:
    tree = release(
        wave("Applying", 20), hooks=({"name": "go", "phase": "Pending"},), reason="WaitingForApproval"
    )
    console = Console(file=io.StringIO(), width=100, force_terminal=True)
    with console.capture() as captured:
        console.print(drawn(tree))
    text = captured.get()
    for word in ("wave 0", "20/40", "Applying", "hook go", "Pending", "WaitingForApproval", "told"):
        assert word in text


def test_the_picture_has_no_escape_sequences_of_a_target() -> None:
    hook = {"name": "go", "phase": "Failed", "message": "\x1b]0;title\x07"}
    console = Console(file=io.StringIO(), width=100)
    with console.capture() as captured:
        console.print(drawn(release(hooks=(hook,))))
    assert "\\u001b]0;title\\u0007" in captured.get()
