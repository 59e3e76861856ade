"""Colour, on a terminal only and never against NO_COLOR."""

from __future__ import annotations

import os
import sys

import click

GREEN, RED, YELLOW, DIM = "green", "red", "yellow", "bright_black"
_BY_WORD = {
    GREEN: {"True", "Applied", "Healthy", "Succeeded", "Approved", "InSync"},
    RED: {"False", "Failed", "Degraded", "Missing"},
    YELLOW: {"Unknown", "Progressing", "Applying", "WaitingForHealth", "Pending", "Running", "Modified"},
}


def is_terminal() -> bool:
    """Return whether a person looks at stdout."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def paint(text: str, colour: str | None = None, *, bold: bool = False) -> str:
    """Return the text in a colour, or as it is."""
    if not is_terminal() or os.environ.get("NO_COLOR"):
        return text
    return click.style(text, fg=colour, bold=bold)


def colour_of(word: str) -> str | None:
    """Return the colour of a status or a phase."""
    return next((colour for colour, words in _BY_WORD.items() if word in words), None)


def paint_word(word: str) -> str:
    """Return a status or a phase in the colour that it has."""
    return paint(word, colour_of(word))
