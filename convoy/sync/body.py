"""What is sent for an object: one body for the dry run, the compare and the apply (D11).

Two bodies that differ in anything but `metadata.uid` would let the compare see drift that the apply cannot
heal, or the apply fail on what the dry run accepted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from fnmatch import fnmatchcase
from typing import Any

from convoy.api.objects import Manifest, ObjectKey
from convoy.api.release import IgnoreDifferences
from convoy.kube.encode import apply_body

_SERVER_OWNED = (
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "managedFields",
    "selfLink",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)


def ignored_paths(key: ObjectKey, ignores: Iterable[IgnoreDifferences]) -> tuple[str, ...]:
    """Return the JSON pointers that are left out of the compare and the apply of one object (D36)."""
    return tuple(
        path
        for ignore in ignores
        if (ignore.group, ignore.kind) == (key.group, key.kind) and fnmatchcase(key.name, ignore.name)
        for path in ignore.paths
    )


def build(
    manifest: Mapping[str, Any],
    *,
    uid: str = "",
    live: Mapping[str, Any] | None = None,
    ignored: Sequence[str] = (),
) -> bytes:
    """Return the bytes of an apply request.

    `uid` is the UID of the live object, for an update by the real apply only (D11). `live` is the live
    object; it is needed only where `ignored` is not empty: leaving a field out would delete it where convoy
    is its only owner, so the live value is sent in its place (D36).

    Raises:
        ValueError: the manifest holds something that JSON has no form for.
    """
    return apply_body(desired(manifest, uid=uid, live=live, ignored=ignored))


def desired(
    manifest: Mapping[str, Any],
    *,
    uid: str = "",
    live: Mapping[str, Any] | None = None,
    ignored: Sequence[str] = (),
) -> Manifest:
    """Return the tree that `build` encodes. The manifest itself is not changed."""
    body = {name: value for name, value in manifest.items() if name != "status"}
    if _collects_its_rules(body):
        # A forced apply of any rules, empty ones too, would wipe what the controller has collected (D3).
        body.pop("rules", None)
    # A render copied from a live object names that object's version and UID; sent, they would be
    # preconditions.
    body["metadata"] = {k: v for k, v in manifest["metadata"].items() if k not in _SERVER_OWNED}
    if uid:
        body["metadata"]["uid"] = uid
    if ignored and live is not None:
        body = deepcopy(body)
        for pointer in ignored:
            _take_from_live(body, live, _segments(pointer))
    return body


def _collects_its_rules(body: Mapping[str, Any]) -> bool:
    return (
        body.get("kind") == "ClusterRole"
        and str(body.get("apiVersion", "")).startswith("rbac.authorization.k8s.io/")
        and bool(body.get("aggregationRule"))
    )


def _segments(pointer: str) -> list[str]:
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def _take_from_live(body: Any, live: Any, segments: Sequence[str]) -> None:
    """Put the live value at a path, or take the path out where the live object has none.

    A path that the render does not set stays unset: sending it would take the field from its owner.
    """
    for at, segment in enumerate(segments):
        last = at == len(segments) - 1
        if isinstance(body, list):
            index = _index(body, segment)
            if index is None:
                return
            twin = _twin(body[index], index, live)
            if twin is None:  # a new element has the render's values, as a new object has
                return
            if last:
                body[index] = deepcopy(twin)
                return
            body, live = body[index], twin
        elif isinstance(body, dict) and segment in body:
            present = isinstance(live, dict) and segment in live
            if last:
                if present:
                    body[segment] = deepcopy(live[segment])
                else:
                    del body[segment]
                return
            body, live = body[segment], live[segment] if present else None
        else:
            return


def _index(items: Sequence[Any], segment: str) -> int | None:
    return int(segment) if segment.isdecimal() and int(segment) < len(items) else None


def _twin(item: Any, index: int, live: Any) -> Any:
    """Return the element of the live list that stands for `item`: by name where both have one, else by
    position."""
    if not isinstance(live, list):
        return None
    if isinstance(item, dict) and "name" in item:
        return next(
            (each for each in live if isinstance(each, dict) and each.get("name") == item["name"]), None
        )
    return live[index] if index < len(live) else None
