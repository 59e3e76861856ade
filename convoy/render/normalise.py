"""From read objects to the render; the second half of the one normaliser, used by every step (D1-D4). Pure.

Dry run, compare, apply, inventory and prune all speak of the same keys and bodies, because nobody but this
module and `convoy.render.drafts` decides what an object's identity, namespace and body are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from convoy.api.errors import Unsupported
from convoy.api.names import SYNC_WAVE
from convoy.api.objects import DEFAULT_NAMESPACE, Manifest, ObjectKey, key_of
from convoy.render.drafts import Draft
from convoy.render.objects import RenderedObject

_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,10}", re.ASCII)
_INT32: Final = 2**31


def normalise(
    drafts: Iterable[Draft], scopes: Mapping[tuple[str, str], bool | None], *, allow_empty: bool = False
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
    own_crds = dict(_scopes_of_crds(drafts))
    objects: dict[ObjectKey, RenderedObject] = {}
    for draft in drafts:
        namespaced = scopes.get(draft.group_kind)
        if namespaced is None:
            namespaced = own_crds.get(draft.group_kind)
        manifest = _in_namespace(draft.manifest, namespaced)
        key = key_of(manifest)
        if key in objects:
            raise Unsupported(f"{key} is in the render twice: {objects[key].origin}, and {draft.origin}")
        wave = _wave(manifest, key, draft.origin)
        objects[key] = RenderedObject(key, manifest["apiVersion"], wave, manifest, draft.origin)
    return tuple(objects.values())


def _in_namespace(manifest: Manifest, namespaced: bool | None) -> Manifest:
    """Give an object its effective namespace (D2). Of a kind that nobody knows it stays as it is written."""
    metadata = manifest["metadata"]
    written = metadata.get("namespace", "")
    effective = "" if namespaced is False else written or (DEFAULT_NAMESPACE if namespaced else "")
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
        raise Unsupported(f"{key}: annotation {SYNC_WAVE} must be an integer of 32 bits ({origin})")
    return int(value)
