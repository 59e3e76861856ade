"""Hooks of a chart (`helm.sh/hook`): which objects of its output are no part of the render (D6). Pure.

Helm would run a hook at its moment and not install it. Applied like any other object, an upgrade job would run at
once and never again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from convoy.api.errors import Unsupported
from convoy.api.objects import counted, key_of
from convoy.render.drafts import Draft

_HOOK: Final = "helm.sh/hook"
_OF_A_SYNC: Final = frozenset({"pre-install", "post-install", "pre-upgrade", "post-upgrade"})
_TESTS: Final = frozenset({"test", "test-success", "test-failure"})


def without_hooks(drafts: Iterable[Draft]) -> tuple[tuple[Draft, ...], tuple[str, ...]]:
    """Return the objects that are no hooks, and a warning for each hook that is dropped and is no test.

    Raises:
        Unsupported: there are hooks of install or upgrade; the message names them.
    """
    kept: list[Draft] = []
    warnings: list[str] = []
    hooks: list[str] = []
    for draft in drafts:
        events = _events(draft)
        subject = f"{key_of(draft.manifest)} ({', '.join(sorted(events))})"
        if not events:
            kept.append(draft)
        elif events & _OF_A_SYNC:
            hooks.append(subject)
        elif not events <= _TESTS:
            warnings.append(f"the chart's hook {subject} is left out: convoy never runs hooks of this kind")
    if hooks:
        raise Unsupported(
            f"spec.content.helm: this version of convoy runs no chart hooks, and the chart has "
            f"{counted(len(hooks), 'hook')}: {', '.join(hooks[:10])}. Switch them off in its values"
        )
    return tuple(kept), tuple(warnings)


def _events(draft: Draft) -> set[str]:
    annotations = draft.manifest["metadata"].get("annotations")
    value = annotations.get(_HOOK) if isinstance(annotations, dict) else None
    return {event.strip().lower() for event in value.split(",")} if isinstance(value, str) else set()
