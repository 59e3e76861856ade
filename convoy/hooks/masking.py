"""Leaving out of a log what shows a Secret's value. Pure.

A line is dropped whole: what stands beside a password may be the user's name or the host. Values are looked for as
they are, in base64 at each of its three alignments, in URLs and in JSON; of a long value twelve characters in a row
are enough, since programs cut and wrap what they print. What no Secret holds that is known here, such as a token that
the program fetched itself, cannot be told from any other text; only tokens that look like one are dropped too.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final
from urllib.parse import quote, quote_plus

DROPPED: Final = "(a line that shows a Secret is left out)"
_GRAM: Final = 12
_SHORTEST: Final = 6
"""Fewer characters of base64 stand in many a word."""
_TOKEN: Final = re.compile(r"eyJ[\w-]{8,}\.[\w-]{8,}\.")


def without_secrets(lines: Sequence[str], values: Iterable[bytes]) -> list[str]:
    """Return the lines, each one that shows one of the values replaced by `DROPPED`."""
    bad = {number for number, line in enumerate(lines) if _TOKEN.search(line)}
    grams: dict[str, set[int]] = {}
    for number, line in enumerate(lines):
        for start in range(len(line) - _GRAM + 1):
            grams.setdefault(line[start : start + _GRAM], set()).add(number)
    for form in {form for value in values for form in _forms(value)}:
        if len(form) <= _GRAM:
            bad |= {number for number, line in enumerate(lines) if form in line}
            continue
        for start in range(len(form) - _GRAM + 1):
            bad |= grams.get(form[start : start + _GRAM], set())
    return [DROPPED if number in bad else line for number, line in enumerate(lines)]


def _forms(value: bytes) -> Iterator[str]:
    """Yield how a value may stand in a log."""
    for shift in range(3):
        # What the bytes before and after it decide at both ends is cut off.
        encoded = base64.b64encode(b"\0" * shift + value).decode()
        middle = encoded[(0, 2, 3)[shift] :].rstrip("=")
        middle = middle if (shift + len(value)) % 3 == 0 else middle[:-1]
        if len(middle) >= _SHORTEST:
            yield middle
    for line in value.decode(errors="replace").splitlines():
        text = line.strip()
        yield from filter(None, (text, quote(text, safe=""), quote_plus(text), json.dumps(text)[1:-1]))
