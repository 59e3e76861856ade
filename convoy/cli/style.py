"""What a terminal is given: colour, never against NO_COLOR, and no control characters of somebody else.

Values, names and messages come from targets and sources that the person at the terminal need not trust. An escape
sequence in them could hide a line of a diff or set the clipboard, and a bidirectional override turns a text round.
"""

from __future__ import annotations

import os
import re
import sys
from typing import Any

import click

GREEN, RED, YELLOW, DIM = "green", "red", "yellow", "bright_black"
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Everything that is no text, and half characters, which cannot be written; but not newline and tab."""
_BY_WORD = {
    GREEN: {"True", "Applied", "Healthy", "Succeeded", "Approved", "InSync"},
    RED: {"False", "Failed", "RolledBack", "Degraded", "Missing"},
    YELLOW: {
        "Unknown",
        "Progressing",
        "Applying",
        "WaitingForHealth",
        "WaitingForApproval",
        "Pending",
        "Running",
        "Modified",
    },
}


def printable(text: str) -> str:
    """Return the text with control characters written as JSON writes them: `\\u001b`."""
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def printable_tree(tree: Any) -> Any:
    """Return a JSON tree with all its texts printable."""
    if isinstance(tree, dict):
        return {printable(name): printable_tree(below) for name, below in tree.items()}
    if isinstance(tree, list):
        return [printable_tree(each) for each in tree]
    return printable(tree) if isinstance(tree, str) else tree


def is_terminal() -> bool:
    """Return whether a person looks at stdout."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def paint(text: str, colour: str | None = None, *, bold: bool = False) -> str:
    """Return the text, made printable, in a colour or without."""
    text = printable(text)
    if not is_terminal() or os.environ.get("NO_COLOR"):
        return text
    return click.style(text, fg=colour, bold=bold)


def colour_of(word: str) -> str | None:
    """Return the colour of a status or a phase."""
    return next((colour for colour, words in _BY_WORD.items() if word in words), None)


def paint_word(word: str) -> str:
    """Return a status or a phase in the colour that it has."""
    return paint(word, colour_of(word))
