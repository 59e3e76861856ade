"""What the readers of files return, and how much they may read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

MAX_DEPTH: Final = 200
"""Levels of nesting. The deepest CRD schemas known have about 60."""


@dataclass(slots=True)
class Budget:
    """How much one render may read, aliases written out: about a million values or 64 MiB of text (D5)."""

    left: int = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Document:
    """One document of a file. An empty one has the tree None."""

    tree: Any = field(repr=False)
    number: int
    """Counted from 1, empty documents included."""
    line: int
    """Where its content begins, counted from 1."""
