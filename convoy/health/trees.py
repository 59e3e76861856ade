"""Reading live objects: what is missing counts as a default, what has a wrong type as missing.

An object's status is written by controllers, a custom resource's by anybody: no shape of it may raise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Tree = Mapping[str, Any]


def child(tree: Tree, *path: str) -> Tree:
    """Return the mapping at a path; an empty one where there is none."""
    for name in path:
        found = tree.get(name)
        if not isinstance(found, Mapping):
            return {}
        tree = found
    return tree


def number(tree: Tree, name: str, default: int = 0) -> int:
    """Return an integer field."""
    value = tree.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def text(tree: Tree, name: str) -> str:
    """Return a text field; empty where there is none."""
    value = tree.get(name)
    return value if isinstance(value, str) else ""


def conditions(tree: Tree) -> dict[str, Tree]:
    """Return `status.conditions` by type; also where the server wrote null (a CRD that was just created)."""
    found = child(tree, "status").get("conditions")
    if not isinstance(found, list):
        return {}
    return {text(each, "type"): each for each in found if isinstance(each, Mapping)}


def is_true(condition: Tree | None) -> bool:
    """Whether a condition is there and True."""
    return condition is not None and condition.get("status") == "True"


def why(condition: Tree) -> str:
    """Return a condition's message, or its reason where it has none."""
    return text(condition, "message") or text(condition, "reason")
