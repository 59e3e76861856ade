"""The identity of a Kubernetes object, and the one way its name is written for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

Manifest = dict[str, Any]
"""A Kubernetes object as a plain JSON tree. User objects are never models: an unknown field must survive."""

DEFAULT_NAMESPACE = "default"


class ObjectKey(NamedTuple):
    """What identifies an object on a cluster.

    The API version is not part of the identity (`reference/apply-and-prune`, Inventory). `namespace` is empty
    for cluster-scoped objects and never empty for namespaced ones, once the normaliser has seen them (D2).
    A tuple, since its hash is taken some ten times for each object of a sync.
    """

    group: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        """`Kind[.group] [namespace/]name`: used in every message, log line, event and table."""
        kind = f"{self.kind}.{self.group}" if self.group else self.kind
        return f"{kind} {self.namespace}/{self.name}" if self.namespace else f"{kind} {self.name}"


def split_api_version(api_version: str) -> tuple[str, str]:
    """Split `apps/v1` into `("apps", "v1")` and `v1` into `("", "v1")`."""
    group, _, version = api_version.rpartition("/")
    return group, version


def key_of(manifest: Mapping[str, Any]) -> ObjectKey:
    """Return the key of an object that has apiVersion, kind and a name, with its namespace as it stands."""
    metadata = manifest["metadata"]
    group, _ = split_api_version(manifest["apiVersion"])
    return ObjectKey(group, manifest["kind"], metadata.get("namespace") or "", metadata["name"])


def counted(number: int, noun: str) -> str:
    """Write `1 object`, `3 objects`: how every message counts."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
