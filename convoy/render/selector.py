"""Label selectors as `kubectl get --selector` has them: `a=b,c!=d,e in (x,y),f notin (z),g,!h`. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

Selector = Callable[[Mapping[str, str]], bool]

_KEY: Final = r"(?P<key>[A-Za-z0-9](?:[A-Za-z0-9._/-]*[A-Za-z0-9])?)"
_SET: Final = re.compile(rf"{_KEY}\s+(?P<op>in|notin)\s*\((?P<values>[^()]*)\)")
_EQUAL: Final = re.compile(rf"{_KEY}\s*(?P<op>==|=|!=)\s*(?P<value>[A-Za-z0-9._-]*)")
_EXISTS: Final = re.compile(rf"(?P<not>!?)\s*{_KEY}")
_COMMA: Final = re.compile(r",(?![^(]*\))")


class BadSelector(ValueError):
    """The text is no label selector."""


def parse_selector(text: str) -> Selector:
    """Return what tells whether labels fit; an empty text fits all.

    Raises:
        BadSelector: the text is no label selector.
    """
    parts = [_requirement(part.strip()) for part in _COMMA.split(text)] if text.strip() else []
    return lambda labels: all(part(labels) for part in parts)


def _requirement(text: str) -> Selector:
    if match := _SET.fullmatch(text):
        key, values = match["key"], {value.strip() for value in match["values"].split(",")}
        if match["op"] == "in":
            return lambda labels: labels.get(key) in values
        return lambda labels: labels.get(key) not in values
    if match := _EQUAL.fullmatch(text):
        key, value = match["key"], match["value"]
        if match["op"] == "!=":
            return lambda labels: labels.get(key) != value
        return lambda labels: labels.get(key) == value
    if match := _EXISTS.fullmatch(text):
        key, absent = match["key"], match["not"] == "!"
        return lambda labels: (key in labels) != absent
    raise BadSelector(f"{text!r} is no requirement of a label selector, such as app=web or tier in (a, b)")
