"""JSON Patch (RFC 6902) on a tree. Pure.

A tenant writes the patch: copies that double a tree 256 times would fill the memory, so what an operation adds
is counted. No message quotes a value, since the tree may be a Secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from convoy.api.mutations import JsonPatchOperation

MAX_ADDED: Final = 1_000_000
"""Values that one patch may add to an object."""

_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,9}", re.ASCII)


class PatchFailed(ValueError):
    """An operation does not fit the tree; the message names it by its number, counted from 0."""


def copy_tree(tree: Any) -> Any:
    """Return a copy that shares no mapping and no list with the tree."""
    if isinstance(tree, dict):
        return {key: copy_tree(value) for key, value in tree.items()}
    return [copy_tree(value) for value in tree] if isinstance(tree, list) else tree


def json_patch(tree: Any, operations: Iterable[JsonPatchOperation]) -> Any:
    """Apply the operations in order and return the result; the tree itself stays as it is.

    Raises:
        PatchFailed: a path leads nowhere, a test fails, or the patch adds too much.
    """
    document = {"": copy_tree(tree)}
    left = MAX_ADDED
    for number, operation in enumerate(operations):
        try:
            left -= _apply(document, operation)
            if left < 0:
                raise PatchFailed(f"the patch adds more than {MAX_ADDED} values")
        except PatchFailed as error:
            raise PatchFailed(f"patch[{number}] ({operation.op} {operation.path!r}): {error}") from None
    return document[""]


def _apply(document: dict[str, Any], operation: JsonPatchOperation) -> int:
    """Apply one operation and return how many values it added."""
    path = _parts(operation.path)
    match operation.op:
        case "add":
            return _add(document, path, copy_tree(_value(operation)))
        case "remove":
            _remove(document, path)
        case "replace":
            _get(document, path)
            value = copy_tree(_value(operation))
            _set(document, path, value)
            return _size(value)
        case "move":
            source = _from(operation)
            if path[: len(source)] == source and path != source:
                raise PatchFailed("a value cannot be moved into itself")
            value = _get(document, source)
            _remove(document, source)
            _add(document, path, value)
        case "copy":
            found = _get(document, _from(operation))
            # Counted before it is made: the tree may be huge already.
            if _size(found) > MAX_ADDED:
                raise PatchFailed(f"the patch adds more than {MAX_ADDED} values")
            return _add(document, path, copy_tree(found))
        case "test":
            if not _same(_get(document, path), _value(operation)):
                raise PatchFailed("the value there is another one")
    return 0


def _parts(pointer: str) -> list[str]:
    """Split a JSON pointer. The document's root is the key "" of the mapping around it."""
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")]


def _from(operation: JsonPatchOperation) -> list[str]:
    if operation.from_ is None:
        raise PatchFailed("the field from is missing")
    return _parts(operation.from_)


def _value(operation: JsonPatchOperation) -> Any:
    if "value" not in operation.model_fields_set:
        raise PatchFailed("the field value is missing")
    return operation.value


def _get(document: Any, path: list[str]) -> Any:
    at = document
    for part in path:
        if isinstance(at, list):
            at = at[_index(at, part, len(at) - 1)]
        elif isinstance(at, dict) and part in at:
            at = at[part]
        else:
            raise PatchFailed("there is nothing at this path")
    return at


def _add(document: Any, path: list[str], value: Any) -> int:
    parent, last = _parent(document, path)
    if isinstance(parent, list):
        parent.insert(len(parent) if last == "-" else _index(parent, last, len(parent)), value)
    else:
        parent[last] = value
    return _size(value)


def _set(document: Any, path: list[str], value: Any) -> None:
    parent, last = _parent(document, path)
    if isinstance(parent, list):
        parent[_index(parent, last, len(parent) - 1)] = value
    else:
        parent[last] = value


def _remove(document: Any, path: list[str]) -> None:
    _get(document, path)
    parent, last = _parent(document, path)
    if isinstance(parent, list):
        del parent[int(last)]
    else:
        del parent[last]


def _parent(document: Any, path: list[str]) -> tuple[dict[str, Any] | list[Any], str]:
    parent = _get(document, path[:-1])
    if not isinstance(parent, (dict, list)):
        raise PatchFailed("the value above this path is no mapping and no list")
    return parent, path[-1]


def _index(items: list[Any], part: str, highest: int) -> int:
    if not _INDEX.fullmatch(part) or int(part) > highest:
        raise PatchFailed(f"the list has no place {part!r}; it holds {len(items)}")
    return int(part)


def _size(tree: Any) -> int:
    if isinstance(tree, dict):
        return 1 + sum(map(_size, tree.values()))
    return 1 + sum(map(_size, tree)) if isinstance(tree, list) else 1


def _same(one: Any, other: Any) -> bool:
    """Compare as JSON does: true is not 1, and 1.0 is 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)
