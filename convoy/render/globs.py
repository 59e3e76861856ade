"""Globs over relative paths, matched in a time that no pattern can blow up. Pure.

A regular expression with many stars tries every way to share a text out among them, which takes years and stops
the whole process meanwhile. Here the places of the pattern that a text may have come to are the bits of a number,
and each character moves all of them at once.
"""

from __future__ import annotations

import re
from typing import Final

_TOKEN: Final = re.compile(r"\*\*/|\*\*|\*|\?|\[[^\]/]+\]|.", re.DOTALL)


class BadGlob(ValueError):
    """The text is no pattern; the message says why."""


class Glob:
    """One pattern: `*` and `?` stay inside a folder, `**` does not, and `**/` may stand for no folder."""

    def __init__(self, pattern: str) -> None:
        """Read a pattern.

        Raises:
            BadGlob: a range in brackets is none.
        """
        self._single: list[tuple[int, re.Pattern[str]]] = []
        self._skip = self._stay = self._stay_inside = self._slash = 0
        self._skip_two = 0
        bit = 1
        for token in _TOKEN.findall(pattern):
            if token == "**/":
                # Two places: before the folders, which may be none, and in the midst of them.
                self._skip |= bit
                self._skip_two |= bit
                bit <<= 1
                self._stay |= bit
                self._slash |= bit
            elif token.startswith("*"):
                self._skip |= bit
                if len(token) > 1:
                    self._stay |= bit
                else:
                    self._stay_inside |= bit
            else:
                self._single.append((bit, _character(token)))
            bit <<= 1
        self._end = bit
        self._moves: dict[str, int] = {}

    def fits(self, text: str) -> bool:
        """Return whether the pattern covers the whole text."""
        places = self._with_skips(1)
        for character in text:
            stay = self._stay if character == "/" else self._stay | self._stay_inside
            moved = (places & self._moving(character)) << 1
            if not (places := self._with_skips(moved | places & stay)):
                return False
        return bool(places & self._end)

    def _moving(self, character: str) -> int:
        """Return the places that a character moves on by one."""
        known = self._moves.get(character)
        if known is None:
            known = self._slash if character == "/" else 0
            for bit, one in self._single:
                if one.fullmatch(character):
                    known |= bit
            self._moves[character] = known
        return known

    def _with_skips(self, places: int) -> int:
        """Add the places behind what may stand for nothing."""
        while (more := places | (places & self._skip) << 1 | (places & self._skip_two) << 2) != places:
            places = more
        return places


def _character(token: str) -> re.Pattern[str]:
    """Return the expression of a token that stands for one character."""
    if token == "?":
        return re.compile("[^/]")
    if len(token) < 3:
        return re.compile(re.escape(token), re.DOTALL)
    inner = token[1:-1].replace("\\", "\\\\").replace("[", "\\[")
    text = f"[^{inner[1:]}]" if inner.startswith("!") and len(inner) > 1 else f"[{inner}]"
    try:
        return re.compile(text)
    except re.error as error:
        raise BadGlob(f"{token!r} is no range of characters") from error
