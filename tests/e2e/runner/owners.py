"""Who owns a field, read from managedFields: every manager, not only the one that wrote last."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from convoy.api.objects import Manifest
from tests.e2e.runner.pointer import segments


def owners_of(live: Manifest, pointer: str) -> set[str]:
    """Return the managers that own the field at `pointer`, or the atomic list or map that it is part of."""
    return {
        entry["manager"]
        for entry in live["metadata"].get("managedFields") or []
        if _owns(entry.get("fieldsV1") or {}, live, segments(pointer))
    }


def _owns(node: Mapping[str, Any], value: Any, path: tuple[str, ...]) -> bool:
    for segment in path:
        if isinstance(value, dict):
            node = node.get(f"f:{segment}", _NOTHING)
            value = value.get(segment)
        elif isinstance(value, list) and segment.isdecimal() and int(segment) < len(value):
            value = value[int(segment)]
            node = next((child for name, child in node.items() if _is_element(name, value)), _NOTHING)
        else:
            return False
        if node is _NOTHING:
            return False
        if not node:
            return True  # a leaf, or an atomic whole that the rest of the path is part of
    return True


_NOTHING: Mapping[str, Any] = {"": "no such field"}


def _is_element(name: str, value: Any) -> bool:
    kind, _, text = name.partition(":")
    if kind == "k" and isinstance(value, dict):
        return all(value.get(key) == wanted for key, wanted in json.loads(text).items())
    return kind == "v" and bool(json.loads(text) == value)
