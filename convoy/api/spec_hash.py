"""The hash of a spec, by which the watcher tells a change of the spec from any other.

`metadata.generation` cannot: for a CRD it also counts changes of mutations, lifecycle and pin, which wait
for the next periodic reconcile (`reference/sync-policy`, What starts a reconcile). The stored tree is
hashed and not the model, so that watchers and workers of different versions agree.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec


def digest(tree: object) -> str:
    """Return the SHA-256 (hex) of a JSON tree in canonical form: sorted keys, no insignificant space."""
    return hashlib.sha256(msgspec.json.encode(tree, order="deterministic")).hexdigest()


def spec_hash(release: Mapping[str, Any]) -> str:
    """Return the hash of the `.spec` of a Release as the API server stores it."""
    return digest(release.get("spec") or {})
