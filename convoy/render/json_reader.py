"""Reads JSON as kubectl reads it (D3), and refuses what YAML would: equal keys, and numbers that JSON has not."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, NoReturn

from convoy.api.errors import Unsupported
from convoy.render.documents import MAX_DEPTH, Budget, Document
from convoy.render.scalars import json_number


def read_json(text: str, *, name: str, budget: Budget) -> Iterator[Document]:
    """Read one JSON value after the other, as kubectl does. Raises `Unsupported`."""
    budget.left -= 4 * len(text)
    if budget.left < 0:
        raise Unsupported(f"{name}: the files are too big")
    decoder = json.JSONDecoder(
        object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite, parse_int=_integer
    )
    at, number = skip_space(text, 0), 1
    while at < len(text):
        line = text.count("\n", 0, at) + 1
        try:
            tree, end = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            raise Unsupported(f"{name}, document {number}, line {error.lineno}: {error.msg}") from None
        except RecursionError:
            what = f"nested more than {MAX_DEPTH} levels deep"
            raise Unsupported(f"{name}, document {number}, line {line}: {what}") from None
        except _BadJson as error:
            raise Unsupported(f"{name}, document {number}, line {line}: {error}") from None
        yield Document(tree, number, line)
        at, number = skip_space(text, end), number + 1


class _BadJson(Exception):
    pass


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    tree = dict(pairs)
    if len(tree) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _BadJson(f"the key {twice!r} stands twice in one object")
    return tree


def _no_constant(text: str) -> NoReturn:
    raise _BadJson(f"JSON has no {text}")


def _finite(text: str) -> float | int:
    value = float(text)
    if not math.isfinite(value):
        raise _BadJson("a number is too big")
    return json_number(value)


def _integer(text: str) -> float | int:
    return _finite(text) if len(text) > 20 else json_number(int(text))


def skip_space(text: str, at: int) -> int:
    """Return where the next value begins."""
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at
