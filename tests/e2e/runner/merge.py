"""JSON merge patch (RFC 7396), and the Release that each Release of a case is merged over."""

from __future__ import annotations

from typing import Any

from convoy.api.names import API_VERSION
from convoy.api.objects import Manifest

CLUSTER = "target"
"""Name of the Cluster that is the test's own API server."""


def merge(target: Any, patch: Any) -> Any:
    """Return `target` with `patch` merged over it; null takes a field away."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = merge(merged.get(name), value)
    return merged


def release_manifest(namespace: str, name: str, over: Manifest) -> Manifest:
    """Return a Release: the default one with `over` merged over it.

    Manual mode, no interval, and a retry later than any case lasts: what happens is what a step asks for.
    """
    default: Manifest = {
        "apiVersion": API_VERSION,
        "kind": "Release",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "clusterRef": {"name": CLUSTER},
            "source": {"inline": {"files": {}}},
            "content": {"manifests": {}},
            "syncPolicy": {"retryBackoff": {"initial": "10m", "max": "10m"}},
        },
    }
    merged: Manifest = merge(default, over)
    return merged
