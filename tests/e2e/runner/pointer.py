"""JSON pointers (RFC 6901) into plain trees, and the equality that the cases ask for."""

from __future__ import annotations

from enum import Enum
from typing import Any, Final


class Absent(Enum):
    """The type of `ABSENT`: there is no such field, which is not the same as null."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT


class BadPointer(ValueError):
    """A text that is no JSON pointer."""


def segments(pointer: str) -> tuple[str, ...]:
    """Split a pointer and undo its quoting; the empty pointer is the whole tree. Raises BadPointer."""
    if not pointer:
        return ()
    if not pointer.startswith("/"):
        raise BadPointer(f"{pointer!r} is no JSON pointer: it has to begin with /")
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer[1:].split("/"))


def resolve(tree: Any, pointer: str) -> Any:
    """Return what the pointer leads to, or ABSENT."""
    for segment in segments(pointer):
        if isinstance(tree, dict) and segment in tree:
            tree = tree[segment]
        elif isinstance(tree, list) and segment.isdecimal() and int(segment) < len(tree):
            tree = tree[int(segment)]
        else:
            return ABSENT
    return tree


def is_at_or_below(pointer: str, above: str) -> bool:
    """Tell whether a pointer is another one or leads further down from it."""
    return segments(pointer)[: len(segments(above))] == segments(above)


def same(left: Any, right: Any) -> bool:
    """Compare values with their types; only an integral number may be read as an integer."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(value, right[name]) for name, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(same(*pair) for pair in zip(left, right, strict=True))
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, int | float) and isinstance(right, int | float):
        return left == right
    return type(left) is type(right) and bool(left == right)
