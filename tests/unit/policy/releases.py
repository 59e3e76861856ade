"""Small Releases for the tests of the policy."""

from __future__ import annotations

from typing import Any

from convoy.api.names import SYNC_FORCE_REQUESTED_AT, SYNC_REQUESTED_AT
from convoy.api.release import Release

AT = "2026-01-02T03:04:05Z"
A_SECOND_LATER = "2026-01-02T03:04:06Z"
REF = "sha256:" + "a" * 64
OTHER_REF = "sha256:" + "b" * 64


def tree(
    name: str = "web",
    *,
    automatic: bool | None = None,
    requested: str | None = None,
    forced: str | None = None,
    status: dict[str, Any] | None = None,
    metadata: dict[str, Any] | None = None,
    **spec: Any,
) -> dict[str, Any]:
    """Return a Release as the API server stores it."""
    policy = {} if automatic is None else {"automatic": automatic}
    annotations = {SYNC_REQUESTED_AT: requested, SYNC_FORCE_REQUESTED_AT: forced}
    return {
        "metadata": {
            "name": name,
            "namespace": "team",
            "uid": f"uid-of-{name}",
            "generation": 1,
            "annotations": {key: text for key, text in annotations.items() if text is not None},
            **(metadata or {}),
        },
        "spec": {
            "clusterRef": {"name": "prod"},
            "source": {"inline": {"files": {}}},
            "content": {"manifests": {}},
            "syncPolicy": policy,
            **spec,
        },
        "status": status or {},
    }


def release(name: str = "web", **arguments: Any) -> Release:
    """Return the model of `tree`."""
    return Release.read(tree(name, **arguments))


def conditions(
    applied: str | None = "True", healthy: str | None = None, generation: int = 1
) -> dict[str, Any]:
    """Return a status with these statuses of Applied and Healthy."""
    told = {"Applied": applied, "Healthy": healthy}
    return {
        "conditions": [
            {"type": kind, "status": text, "reason": "Because", "observedGeneration": generation}
            for kind, text in told.items()
            if text is not None
        ]
    }
