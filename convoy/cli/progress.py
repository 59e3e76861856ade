"""How far a sync is: a live picture on a terminal, a line for each change elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from convoy.api.conditions import find_condition
from convoy.api.names import APPLIED, HEALTHY
from convoy.api.objects import Manifest
from convoy.cli.output import say
from convoy.cli.style import is_terminal, printable, printable_tree

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live


class Progress(Protocol):
    """Whoever shows how far a sync is."""

    def show(self, tree: Manifest) -> None:
        """Show the Release as it is now."""

    def end(self, message: str) -> None:
        """Show the result."""


@contextmanager
def progress_of(before: Manifest) -> Iterator[Progress]:
    """Open what fits the terminal; `before` is the Release before the request, which is no news."""
    if not is_terminal():
        yield _Lines(before)
        return
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(highlight=False), refresh_per_second=8, transient=False) as live:
        yield _Picture(live)


class _Lines:
    """Tells each change once."""

    def __init__(self, before: Manifest) -> None:
        self._told = dict(_facts(before))

    def show(self, tree: Manifest) -> None:
        for subject, fact in _facts(tree):
            if self._told.get(subject) != fact:
                say(f"{subject}: {fact}")
            self._told[subject] = fact

    def end(self, message: str) -> None:
        say(f"done: {message}")


def _facts(tree: Manifest) -> Iterator[tuple[str, str]]:
    status = tree.get("status") or {}
    for wave in status.get("waves") or ():
        phase = wave.get("phase") or "Pending"
        count = f"{wave.get('applied', 0)} of {wave.get('objects', 0)} objects"
        # A line an object would be too many: the count is told at rest only.
        yield f"wave {wave['wave']}", phase if phase == "Applying" else f"{phase}, {count}"
    for hook in status.get("hooks") or ():
        yield f"hook {hook['name']}", " ".join(filter(None, (hook.get("phase"), hook.get("message"))))
    for kind in (APPLIED, HEALTHY):
        condition = find_condition(status.get("conditions"), kind)
        if condition is not None and condition["status"] != "True":
            yield kind, f"{condition.get('reason')}: {condition.get('message')}"


class _Picture:
    """Waves with bars, hooks, and what convoy waits for."""

    def __init__(self, live: Live) -> None:
        self._live = live

    def show(self, tree: Manifest) -> None:
        self._live.update(drawn(tree))

    def end(self, message: str) -> None:
        self._live.console.print(f"done: {printable(message)}", style="green", markup=False)


def drawn(tree: Manifest) -> RenderableType:
    """Return the picture of a Release."""
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    status: dict[str, Any] = printable_tree(tree.get("status") or {})
    table = Table.grid(padding=(0, 2))
    for wave in status.get("waves") or ():
        applied, objects = wave.get("applied", 0), wave.get("objects", 0)
        bar = ProgressBar(total=max(objects, 1), completed=applied, width=30)
        table.add_row(f"wave {wave['wave']}", bar, f"{applied}/{objects}", _word(wave.get("phase")))
    for hook in status.get("hooks") or ():
        table.add_row(f"hook {hook['name']}", Text(hook.get("message") or ""), "", _word(hook.get("phase")))
    for kind in (APPLIED, HEALTHY):
        condition = find_condition(status.get("conditions"), kind)
        if condition is not None and condition["status"] != "True":
            table.add_row(kind, Text(condition.get("message") or ""), "", _word(condition.get("reason")))
    return table


def _word(word: str | None) -> RenderableType:
    from rich.text import Text

    from convoy.cli.style import colour_of

    return Text(word or "", style=colour_of(word or "") or "")
