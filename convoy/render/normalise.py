"""From read objects to the render; the second half of the one normaliser, used by every step (D1-D4). Pure.

Dry run, compare, apply, inventory and prune all speak of the same keys and bodies, because nobody but this
module and `convoy.render.drafts` decides what an object's identity, namespace and body are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from convoy.api.errors import Unsupported
from convoy.api.names import SYNC_WAVE
from convoy.api.objects import DEFAULT_NAMESPACE, Manifest, ObjectKey, key_of
from convoy.render.drafts import Draft
from convoy.render.objects import RenderedObject

_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,10}", re.ASCII)
_INT32: Final = 2**31
_SHOWN: Final = 64
"""Characters of a wave that is none."""


Scopes = Mapping[tuple[str, str], bool | None]
"""(group, kind) to whether it is namespaced; None or absent where nobody knows."""


def normalise(
    drafts: Iterable[Draft], scopes: Scopes, *, allow_empty: bool = False
) -> tuple[RenderedObject, ...]:
    """Settle namespaces and waves, and return the objects in the order of the drafts.

    Args:
        drafts: from `read_objects`. scopes: (group, kind) to whether the target cluster says it is
        namespaced; None or absent where it does not know the kind. CRDs among the drafts count too (D2).
        allow_empty: `spec.content.allowEmpty` (D4).

    Raises:
        Unsupported: naming the object and where it was read.
    """
    drafts = tuple(drafts)
    if not drafts and not allow_empty:
        raise Unsupported(
            "the render holds no object. If nothing is wanted, set spec.content.allowEmpty: true; "
            "it would otherwise prune everything"
        )
    known = with_own_crds(drafts, scopes)
    objects: dict[ObjectKey, RenderedObject] = {}
    for draft in drafts:
        manifest = _in_namespace(draft.manifest, known.get(draft.group_kind))
        key = key_of(manifest)
        if key in objects:
            raise Unsupported(f"{key} is in the render twice: {objects[key].origin}, and {draft.origin}")
        wave = _wave(manifest, key, draft.origin)
        objects[key] = RenderedObject(key, manifest["apiVersion"], wave, manifest, draft.origin)
    return tuple(objects.values())


def with_own_crds(drafts: Iterable[Draft], scopes: Scopes) -> Scopes:
    """Return the scopes with what the CRDs among the drafts say; the target's word goes first."""
    return dict(_scopes_of_crds(drafts)) | {
        kind: namespaced for kind, namespaced in scopes.items() if namespaced is not None
    }


def in_chart_namespace(drafts: Iterable[Draft], scopes: Scopes, namespace: str) -> tuple[Draft, ...]:
    """Give a chart's objects without a namespace that of the chart, where `helm install` would put them too."""
    drafts = tuple(drafts)
    known = with_own_crds(drafts, scopes)
    return tuple(
        draft
        if draft.manifest["metadata"].get("namespace") or known.get(draft.group_kind) is not True
        else replace(
            draft,
            manifest={**draft.manifest, "metadata": {**draft.manifest["metadata"], "namespace": namespace}},
        )
        for draft in drafts
    )


def effective_namespace(manifest: Manifest, namespaced: bool | None) -> str:
    """Return an object's namespace (D2). Of a kind that nobody knows it stays as it is written."""
    written: str = manifest["metadata"].get("namespace", "")
    return "" if namespaced is False else written or (DEFAULT_NAMESPACE if namespaced else "")


def _in_namespace(manifest: Manifest, namespaced: bool | None) -> Manifest:
    metadata = manifest["metadata"]
    written, effective = metadata.get("namespace", ""), effective_namespace(manifest, namespaced)
    if effective and effective == written:
        return manifest
    metadata = {name: value for name, value in metadata.items() if name != "namespace"}
    return {**manifest, "metadata": {**metadata, "namespace": effective} if effective else metadata}


def _scopes_of_crds(drafts: Iterable[Draft]) -> Iterator[tuple[tuple[str, str], bool]]:
    for draft in drafts:
        if draft.group_kind != ("apiextensions.k8s.io", "CustomResourceDefinition"):
            continue
        spec = draft.manifest.get("spec")
        names = spec.get("names") if isinstance(spec, dict) else None
        if isinstance(spec, dict) and isinstance(names, dict):
            yield (str(spec.get("group")), str(names.get("kind"))), spec.get("scope") == "Namespaced"


def _wave(manifest: Manifest, key: ObjectKey, origin: str) -> int:
    annotations = manifest["metadata"].get("annotations")
    value = annotations.get(SYNC_WAVE, "0") if isinstance(annotations, dict) else "0"
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)  # no valid annotation, which the dry run says better; an integer nevertheless
    if not isinstance(value, str) or not _INTEGER.fullmatch(value) or not -_INT32 <= int(value) < _INT32:
        told = f"must be an integer of 32 bits, not {str(value)[:_SHOWN]!r}"
        raise Unsupported(f"{key}: annotation {SYNC_WAVE} {told} ({origin})")
    return int(value)
