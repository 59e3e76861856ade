"""Mutations: a Release's changes to its own render, between reading the objects and normalising them. Pure.

The hazard is a change of identity. An object that a mutation renamed would be pruned under its old name and made
under the new one; with a Namespace that costs everything in it. So group and kind never change, and neither does
the name of a cluster-scoped object; a namespace that is set on one is dropped again (D2). What comes out is read
like any other object: nothing that is never sent gets in by a mutation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from convoy.api.errors import Unsupported
from convoy.api.mutations import Mutation, MutationTarget
from convoy.api.objects import Manifest, ObjectKey
from convoy.render.drafts import Draft, read_object
from convoy.render.images import change_images
from convoy.render.json_patch import PatchFailed, json_patch
from convoy.render.merge_patch import merge_patch
from convoy.render.normalise import Scopes, effective_namespace, with_own_crds
from convoy.render.selector import BadSelector, Selector, parse_selector


@dataclass(frozen=True, slots=True)
class Mutated:
    """Objects after the mutations."""

    drafts: tuple[Draft, ...]
    warnings: tuple[str, ...]
    """One for each mutation that changed nothing because nothing matched."""


def mutate(drafts: Sequence[Draft], scopes: Scopes, mutations: Sequence[Mutation]) -> Mutated:
    """Apply the mutations in order, each to what the one before it left.

    Args:
        drafts: the objects as they were read.
        scopes: as for `normalise`.
        mutations: of the Release.

    Raises:
        Unsupported: a patch does not fit an object, or would change what the object is; the message names the
        mutation by its index and the object.
    """
    known = with_own_crds(drafts, scopes)
    warnings: list[str] = []
    for index, mutation in enumerate(mutations):
        target = _Target(mutation.target, index)
        changed = [_changed(draft, mutation, index, target, known) for draft in drafts]
        if not any(hit for _, hit in changed):
            warnings.append(f"mutations[{index}] matches nothing in the render")
        drafts = [draft for draft, _ in changed]
    return Mutated(tuple(drafts), tuple(warnings))


class _Target:
    """Which objects a mutation is for."""

    def __init__(self, target: MutationTarget, index: int) -> None:
        self._target = target
        self._selector: Selector | None = None
        if target.label_selector is not None:
            try:
                self._selector = parse_selector(target.label_selector)
            except BadSelector as error:
                raise Unsupported(f"mutations[{index}].target.labelSelector: {error}") from None

    def takes(self, key: ObjectKey, manifest: Manifest) -> bool:
        wanted = self._target
        if wanted.group not in (None, key.group) or wanted.kind not in (None, key.kind):
            return False
        if wanted.name is not None and not fnmatchcase(key.name, wanted.name):
            return False
        if wanted.namespace is not None and not (
            key.namespace and fnmatchcase(key.namespace, wanted.namespace)
        ):
            return False
        labels = manifest["metadata"].get("labels")
        return self._selector is None or self._selector(labels if isinstance(labels, dict) else {})


def _changed(
    draft: Draft,
    mutation: Mutation,
    index: int,
    target: _Target,
    scopes: Mapping[tuple[str, str], bool | None],
) -> tuple[Draft, bool]:
    namespaced = scopes.get(draft.group_kind)
    key = _key(draft.manifest, namespaced)
    if not target.takes(key, draft.manifest):
        return draft, False
    subject = f"mutations[{index}] on {key}"
    tree, hit = _patched(draft.manifest, mutation, subject)
    if not hit:
        return draft, False
    result = read_object(tree, subject, origin=draft.origin)
    if result.group_kind != draft.group_kind:
        raise Unsupported(f"{subject} would make it another kind; a mutation cannot do that")
    if namespaced is not True and result.manifest["metadata"]["name"] != key.name:
        raise Unsupported(f"{subject} would rename it; a mutation renames no object without a namespace")
    return result, True


def _key(manifest: Manifest, namespaced: bool | None) -> ObjectKey:
    group, kind = Draft(manifest, "").group_kind
    return ObjectKey(group, kind, effective_namespace(manifest, namespaced), manifest["metadata"]["name"])


def _patched(manifest: Manifest, mutation: Mutation, subject: str) -> tuple[object, bool]:
    try:
        if mutation.image is not None:
            return change_images(manifest, mutation.image)
        if mutation.merge is not None:
            return merge_patch(manifest, mutation.merge), True
        return json_patch(manifest, mutation.patch or ()), True
    except PatchFailed as error:
        raise Unsupported(f"{subject}: {error}") from None
    except RecursionError:
        raise Unsupported(f"{subject}: nested too deep") from None
