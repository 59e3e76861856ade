"""`ignoreDifferences`: the fields of an object that are left to others (D36).

Leaving such a field out of an apply deletes it where convoy is its only owner. So for an object that exists the live
value is sent in its place, and for a new one the render's. The paths are those of the render; in the live object an
element of a list may stand elsewhere, behind what an injector has put before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from fnmatch import fnmatchcase
from typing import Any

from convoy.api.names import MANAGER
from convoy.api.objects import Manifest, ObjectKey
from convoy.api.release import IgnoreDifferences
from convoy.drift.owners import Path, is_applied_by, list_keys


def ignored_paths(key: ObjectKey, ignores: Iterable[IgnoreDifferences]) -> tuple[str, ...]:
    """Return the JSON pointers that are left out of the compare and the apply of one object."""
    return tuple(
        path
        for ignore in ignores
        if (ignore.group, ignore.kind) == (key.group, key.kind) and fnmatchcase(key.name, ignore.name)
        for path in ignore.paths
    )


def live_path(pointer: str, manifest: Mapping[str, Any], live: Manifest) -> Path | None:
    """Return where a path of the rendered manifest leads in the live object, whether anything is there or not.

    None where it leads into an element of a list that the live object does not have.
    """
    body: Any = manifest
    node: Any = live
    path: Path = ()
    for segment in _segments(pointer):
        step: str | int = segment
        if isinstance(body, list):
            index = _index(body, segment)
            twin = None if index is None else _twin(body[index], index, node, list_keys(live, path))
            if index is None or twin is None:
                return None
            body, step = body[index], twin
        else:
            body = body.get(segment) if isinstance(body, dict) else None
        path += (step,)
        found = _at(node, step)
        node = found[0] if found else None
    return path


def leave_to_others(body: Manifest, live: Manifest, pointer: str) -> None:
    """Put the live value at a path of an apply's body, or take the path out where the live object has none.

    A path that the render does not set stays unset: sending it would take the field from its owner. Only where an
    earlier apply of convoy's set it is the live value sent, since leaving it out would delete it.
    """
    path = live_path(pointer, body, live)
    if path is None:  # a new element has the render's values, as a new object has
        return
    node: Any = live
    for step in path:
        found = _at(node, step)
        if not found:
            _take_out(body, _segments(pointer))
            return
        node = found[0]
    _put(body, live, _segments(pointer), deepcopy(node), adding=is_applied_by(live, path, MANAGER))


def _take_out(body: Any, segments: Sequence[str]) -> None:
    for segment in segments[:-1]:
        found = _at(body, _index(body, segment) if isinstance(body, list) else segment)
        if not found:
            return
        body = found[0]
    if isinstance(body, dict):
        body.pop(segments[-1], None)


def _put(body: Any, live: Any, segments: Sequence[str], value: Any, *, adding: bool) -> None:
    """Set the value at a path of the body; `adding` also where the body does not have it."""
    *parents, last = segments
    for segment in parents:
        if isinstance(body, list):
            found = _at(body, _index(body, segment))
            if not found:
                return
            body, live = found[0], None
        elif isinstance(body, dict):
            live = live.get(segment) if isinstance(live, dict) else None
            if segment not in body and not (adding and isinstance(live, dict)):
                return
            body = body.setdefault(segment, {})
        else:
            return
    if isinstance(body, list):
        index = _index(body, last)
        if index is not None:
            body[index] = value
    elif isinstance(body, dict) and (adding or last in body):
        body[last] = value


def _segments(pointer: str) -> list[str]:
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def _at(node: Any, step: str | int | None) -> tuple[Any] | None:
    """Return what stands at one step below, in a tuple, or None."""
    if isinstance(node, dict) and step in node:
        return (node[step],)
    if isinstance(node, list) and isinstance(step, int) and step < len(node):
        return (node[step],)
    return None


def _index(items: Sequence[Any], segment: str) -> int | None:
    return int(segment) if segment.isdecimal() and int(segment) < len(items) else None


def _twin(item: Any, index: int, live: Any, keys: Sequence[str]) -> int | None:
    """Return the index of the live element that stands for `item`: by the list's keys or by name, else by position."""
    if not isinstance(live, list):
        return None
    told = {key: item[key] for key in keys or ("name",) if key in item} if isinstance(item, dict) else {}
    if told:
        same = (
            place
            for place, each in enumerate(live)
            if isinstance(each, dict) and all(each.get(key) == value for key, value in told.items())
        )
        return next(same, None)
    return index if index < len(live) else None
