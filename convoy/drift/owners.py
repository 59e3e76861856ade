"""Who owns a field: the lookup of a path in `metadata.managedFields`.

managedFields name the elements of a list by key (`k:{"name":"web"}`), by value (`v:"a"`) or by index (`i:0`),
never by position alone, so a path can only be followed together with the object that it points into. The
hazard answered here: naming the wrong person. An owner is only given where the server's own record says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from convoy.api.names import MANAGER
from convoy.api.objects import Manifest

Path = tuple[str | int, ...]
"""Map keys and list indexes from the root of an object."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The manager of a field, how it wrote (`Apply` or `Update`) and when (RFC 3339, or empty)."""

    manager: str
    operation: str
    time: str = ""

    def tree(self) -> dict[str, str]:
        """Return the owner as a JSON tree."""
        return {"manager": self.manager, "operation": self.operation, "time": self.time}

    @staticmethod
    def from_tree(tree: Mapping[str, str]) -> Owner:
        """Read what `tree` has written."""
        return Owner(tree["manager"], tree["operation"], tree.get("time", ""))


def owner_of(live: Manifest, path: Path) -> Owner | None:
    """Return who owns the field at `path` of the live object, which has that path.

    A field inside an atomic list or map belongs to the owner of the whole. Where several managers own a
    field, it is the one that wrote it last; where nobody owns the field itself but somebody owns parts of it,
    one of those.
    """
    owned = [(entry, node) for entry, node in _nodes(live, path) if not node or "." in node]
    return _latest([entry for entry, _ in owned] or [entry for entry, _ in _nodes(live, path)])


def owner_of_absent(live: Manifest, parent: Path) -> Owner | None:
    """Return who took a field out of `parent`, which the live object has.

    Only known where the parent is atomic: managedFields keep no record of what is gone.
    """
    return _latest([entry for entry, node in _nodes(live, parent) if not node])


def is_applied_by(live: Manifest, path: Path, manager: str) -> bool:
    """Whether an apply of this manager has set the field at `path` of the live object, or something below it."""
    return any(
        entry.get("manager") == manager and entry.get("operation") == "Apply" and not entry.get("subresource")
        for entry, _ in _nodes(live, path)
    )


def list_keys(live: Manifest, path: Path) -> tuple[str, ...]:
    """Return the fields that tell the elements of the list at `path` apart, or () for a list without keys."""
    for _, node in _nodes(live, path):
        for name in node:
            if name.startswith("k:"):
                return tuple(json.loads(name[2:]))
    return ()


def _latest(entries: Sequence[Mapping[str, Any]]) -> Owner | None:
    if not entries:
        return None
    # Times are whole seconds. Of two in one second the one to tell of is not convoy, which everybody expects there.
    entry = max(entries, key=lambda one: (str(one.get("time", "")), one.get("manager") != MANAGER))
    return Owner(entry.get("manager", ""), entry.get("operation", ""), entry.get("time", ""))


def _nodes(live: Manifest, path: Path) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Yield each entry that reaches `path`, with its node there; an atomic ancestor's node is empty."""
    for entry in live.get("metadata", {}).get("managedFields") or ():
        node: Mapping[str, Any] | None = entry.get("fieldsV1")
        value: Any = live
        if not node:
            continue
        for segment in path:
            node = _child(node, value, segment)
            if not node:
                break
            value = value[segment]
        if node is not None:
            yield entry, node


def _child(node: Mapping[str, Any], value: Any, segment: str | int) -> Mapping[str, Any] | None:
    if isinstance(segment, str):
        return node.get(f"f:{segment}")
    element = value[segment]
    for name, child in node.items():
        if _names(name, element, segment):
            found: Mapping[str, Any] = child
            return found
    return None


def _names(name: str, element: Any, index: int) -> bool:
    kind, _, text = name.partition(":")
    if kind == "k" and isinstance(element, dict):
        return all(element.get(key) == value for key, value in json.loads(text).items())
    if kind == "v":
        return bool(json.loads(text) == element)
    return kind == "i" and int(text) == index
