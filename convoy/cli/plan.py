"""`release preview` for a person: the waves, the warnings and the prune plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from convoy.api.objects import Manifest, counted
from convoy.cli.output import key_in, say_painted
from convoy.cli.style import DIM, RED, YELLOW, paint, printable_tree

_DESIRED = {
    "fresh": "rendered now",
    "pin": "the pinned render",
    "lastHealthy": "the latest healthy render, after a rollback",
    "named": "as named",
}


def print_plan(answer: Manifest) -> None:
    """Print what a sync would do."""
    for line in _lines(printable_tree(answer)):
        say_painted(line)


def _lines(answer: Manifest) -> Iterator[str]:
    desired = answer.get("desired") or ""
    yield f"Render     {answer['renderRef']}"
    yield f"Revision   {answer.get('revision') or ''} ({_DESIRED.get(desired, desired)})"
    yield from _hooks(answer, "preSync", "Before it")
    for wave in answer.get("waves") or ():
        waits = ", once the wave before is healthy" if wave.get("strategy") == "Health" else ""
        yield ""
        yield paint(f"Wave {wave['wave']}: {counted(len(wave['objects']), 'object')}{waits}", bold=True)
        yield from _aligned(
            [(str(key_in(each)), paint(each.get("origin") or "", DIM)) for each in wave["objects"]]
        )
    yield from _hooks(answer, "postSync", "After it")
    prune = answer.get("prune") or {}
    if prune.get("objects") or prune.get("message"):
        yield ""
        yield paint(_prune_title(prune), bold=True)
        yield from _aligned(
            [
                (each["action"], str(key_in(each)), each.get("reason") or "")
                for each in prune.get("objects") or ()
            ],
            colours={"delete": RED},
        )
        if prune.get("message"):
            yield f"  {prune['message']}"
    if answer.get("warnings"):
        yield ""
        yield paint("Warnings", bold=True)
        for warning in answer["warnings"]:
            subject = f"{key_in(warning['object'])}: " if warning.get("object") else ""
            yield f"  {paint(subject + warning['message'], YELLOW)}"


def _hooks(answer: Manifest, stage: str, title: str) -> Iterator[str]:
    hooks = [each for each in answer.get("hooks") or () if each["stage"] == stage]
    if not hooks:
        return
    yield ""
    yield paint(f"{title}: {counted(len(hooks), 'hook')} ({stage})", bold=True)
    yield from _aligned(
        [
            (each["kind"], each["name"], "" if each["runs"] else paint("has run for this render", DIM))
            for each in hooks
        ]
    )


def _prune_title(prune: Mapping[str, Any]) -> str:
    deletes = sum(each["action"] == "delete" for each in prune.get("objects") or ())
    if not prune.get("enabled"):
        return "Prune: off (spec.syncPolicy.prune.orphaned)"
    return f"Prune: {counted(deletes, 'object')} to delete"


def _aligned(rows: Sequence[tuple[str, ...]], *, colours: Mapping[str, str] | None = None) -> Iterator[str]:
    """Return indented lines; the last cell may hold colour codes, which have no width."""
    if not rows:
        return
    widths = [max(len(row[column]) for row in rows) + 2 for column in range(len(rows[0]) - 1)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=True)]
        colour = (colours or {}).get(row[0])
        yield ("  " + paint("".join(cells), colour) + row[-1]).rstrip()
