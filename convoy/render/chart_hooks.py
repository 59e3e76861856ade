"""Hooks of a chart (`helm.sh/hook`): which objects of its output are no objects of the Release (D6). Pure.

Helm would run a hook at its moment and not install it. Applied like any other object, an upgrade job would run at
once and never again. What the annotations ask for is read here too, so that a chart which asks for nonsense is
refused before anything runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from convoy.api.errors import Unsupported
from convoy.api.hooks import HookStage
from convoy.api.objects import Manifest, key_of
from convoy.render.drafts import Draft

HOOK: Final = "helm.sh/hook"
WEIGHT: Final = "helm.sh/hook-weight"
DELETE_POLICY: Final = "helm.sh/hook-delete-policy"

_STAGES: Final = {
    "pre-install": HookStage.PRE_SYNC,
    "pre-upgrade": HookStage.PRE_SYNC,
    "post-install": HookStage.POST_SYNC,
    "post-upgrade": HookStage.POST_SYNC,
}
_TESTS: Final = frozenset({"test", "test-success", "test-failure"})
_POLICIES: Final = frozenset({"before-hook-creation", "hook-succeeded", "hook-failed"})
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,9}", re.ASCII)


@dataclass(frozen=True, slots=True)
class ChartParts:
    """The output of a chart, taken apart."""

    objects: tuple[Draft, ...]
    hooks: tuple[Draft, ...]
    """What Helm would run before or after an installation or an upgrade."""
    warnings: tuple[str, ...]
    """One for each hook that is left out and is no test."""


def take_apart(drafts: Iterable[Draft]) -> ChartParts:
    """Tell the objects of a chart from its hooks.

    Raises:
        Unsupported: a hook has a kind or an annotation that convoy cannot follow; the message names it.
    """
    objects: list[Draft] = []
    hooks: list[Draft] = []
    warnings: list[str] = []
    for draft in drafts:
        events = events_of(draft.manifest)
        subject = f"the chart's hook {key_of(draft.manifest)} ({', '.join(sorted(events))})"
        if not events:
            objects.append(draft)
        elif not events.isdisjoint(_STAGES):
            _check(draft, subject)
            hooks.append(draft)
        elif not events <= _TESTS:
            warnings.append(f"{subject} is left out: convoy never runs hooks of this kind")
    return ChartParts(tuple(objects), tuple(hooks), tuple(warnings))


def events_of(manifest: Manifest) -> frozenset[str]:
    """Return the moments that an object is a hook of; none for an ordinary object."""
    return _words(manifest, HOOK)


def runs_in(manifest: Manifest, stage: HookStage, *, install: bool) -> bool:
    """Tell whether Helm would run a hook in this stage of an installation, or of an upgrade."""
    wanted = "install" if install else "upgrade"
    return any(_STAGES.get(event) is stage and event.endswith(wanted) for event in events_of(manifest))


def weight_of(manifest: Manifest) -> int:
    """Return the weight of a hook: lower ones run first. Default: 0."""
    text = _annotations(manifest).get(WEIGHT, "0")
    return int(text) if isinstance(text, str) and _INTEGER.fullmatch(text) else 0


def goes_once_it_succeeded(manifest: Manifest) -> bool:
    """Tell whether a hook is deleted as soon as it succeeded."""
    return "hook-succeeded" in _words(manifest, DELETE_POLICY)


def _check(draft: Draft, subject: str) -> None:
    if draft.group_kind == ("", "Pod"):
        raise Unsupported(f"{subject} is a Pod; of what has to end convoy runs Jobs only ({draft.origin})")
    weight = _annotations(draft.manifest).get(WEIGHT, "0")
    if not isinstance(weight, str) or not _INTEGER.fullmatch(weight):
        raise Unsupported(f"{subject}: annotation {WEIGHT} must be an integer ({draft.origin})")
    unknown = _words(draft.manifest, DELETE_POLICY) - _POLICIES
    if unknown:
        raise Unsupported(
            f"{subject}: annotation {DELETE_POLICY} has {', '.join(sorted(unknown))}; "
            f"known are {', '.join(sorted(_POLICIES))} ({draft.origin})"
        )


def _words(manifest: Manifest, annotation: str) -> frozenset[str]:
    value = _annotations(manifest).get(annotation)
    words = value.split(",") if isinstance(value, str) else ()
    return frozenset(word.strip().lower() for word in words if word.strip())


def _annotations(manifest: Manifest) -> Mapping[str, Any]:
    annotations = manifest["metadata"].get("annotations")
    return annotations if isinstance(annotations, dict) else {}
