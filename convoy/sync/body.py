"""What is sent for an object: one body for the dry run, the compare and the apply (D11).

Two bodies that differ in anything but `metadata.uid` would let the compare see drift that the apply cannot
heal, or the apply fail on what the dry run accepted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from convoy.api.objects import Manifest
from convoy.kube.encode import apply_body
from convoy.sync.ignored import leave_to_others

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


def build(
    manifest: Mapping[str, Any],
    *,
    uid: str = "",
    live: Manifest | None = None,
    ignored: Sequence[str] = (),
) -> bytes:
    """Return the bytes of an apply request.

    `uid` is the UID of the live object, for an update by the real apply only (D11). `live` is the live
    object; it is needed only where `ignored` is not empty, for what is left to others (D36).

    Raises:
        ValueError: the manifest holds something that JSON has no form for.
    """
    return apply_body(desired(manifest, uid=uid, live=live, ignored=ignored))


def desired(
    manifest: Mapping[str, Any],
    *,
    uid: str = "",
    live: Manifest | None = None,
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
            leave_to_others(body, live, pointer)
    return body


def _collects_its_rules(body: Mapping[str, Any]) -> bool:
    return (
        body.get("kind") == "ClusterRole"
        and str(body.get("apiVersion", "")).startswith("rbac.authorization.k8s.io/")
        and bool(body.get("aggregationRule"))
    )
