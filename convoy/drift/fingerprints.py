"""Secret values leave the compare as keyed fingerprints only: "changed" shows, the value does not (D40).

Keyed with the installation's key, so that a fingerprint in a message or an answer is no oracle for a weak
password.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import replace
from typing import Any, Final

from convoy.api.objects import Manifest, ObjectKey
from convoy.drift.changes import ABSENT, FieldChange
from convoy.kube.encode import canonical

_SHOWN: Final = ("apiVersion", "kind", "metadata", "type", "immutable")
"""Fields of a Secret that hold no value; any other may be a misspelt `stringData`."""
LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
"""kubectl writes whole objects, values included, into this annotation."""


def fingerprint(key: bytes, value: Any) -> str:
    """Return a short text that is equal for equal JSON values under the same key and says nothing else."""
    return "hmac:" + hmac.digest(key, b"drift\x00" + canonical(value), hashlib.sha256).hex()[:16]


def without_secret_values(
    changes: tuple[FieldChange, ...], *, subject: ObjectKey, key: bytes
) -> tuple[FieldChange, ...]:
    """Return the changes with each value of a Secret as its fingerprint; those of other kinds as they are."""
    if (subject.group, subject.kind) != ("", "Secret"):
        return changes
    return tuple(
        replace(
            change,
            live=_hide(change.pointer, change.live, key),
            desired=_hide(change.pointer, change.desired, key),
        )
        for change in changes
    )


def hide_secret_values(manifest: Manifest, *, key: bytes) -> Manifest:
    """Return a manifest that may be shown: of a Secret each value as its fingerprint, others as they are."""
    if (manifest["apiVersion"], manifest["kind"]) != ("v1", "Secret"):
        return manifest
    shown = {name: _hide(f"/{name}", value, key) for name, value in manifest.items()}
    annotations = manifest["metadata"].get("annotations")
    if annotations is not None:
        shown["metadata"] = {
            **manifest["metadata"],
            "annotations": _hide("/metadata/annotations", annotations, key),
        }
    return shown


def _hide(pointer: str, value: Any, key: bytes) -> Any:
    if value is ABSENT:
        return value
    at = tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])
    if at[0] not in _SHOWN:
        if len(at) == 1 and isinstance(value, dict):
            return {name: fingerprint(key, entry) for name, entry in value.items()}
        return fingerprint(key, value)
    if at == ("metadata", "annotations") and isinstance(value, dict) and LAST_APPLIED in value:
        return {**value, LAST_APPLIED: fingerprint(key, value[LAST_APPLIED])}
    if at == ("metadata", "annotations", LAST_APPLIED):
        return fingerprint(key, value)
    return value
