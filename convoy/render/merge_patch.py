"""JSON merge patch (RFC 7396) on a tree. Pure."""

from __future__ import annotations

from typing import Any

from convoy.render.json_patch import copy_tree


def merge_patch(tree: Any, patch: Any) -> Any:
    """Return the tree with the patch merged in; the tree itself stays as it is.

    null in the patch removes a key; a list replaces the whole list.
    """
    if not isinstance(patch, dict):
        return copy_tree(patch)
    merged = dict(tree) if isinstance(tree, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged
