"""A Release must not change the namespace that convoy runs in: it would hold convoy's own rights (D16)."""

from __future__ import annotations

from convoy.api.errors import Unsupported
from convoy.api.hooks import Lifecycle
from convoy.api.objects import ObjectKey
from convoy.api.rendered import Render

_NAMED = 10


def refuse_own_namespace(render: Render, own_namespace: str, lifecycle: Lifecycle | None = None) -> None:
    """Refuse what would be in convoy's own namespace, or that namespace itself: objects, and the Jobs of hooks.

    Only for a target that is the cluster convoy runs in, and not with `--allow-own-namespace`.

    Raises:
        Unsupported: naming them.
    """
    inside = [str(item.key) for item in (*render.objects, *render.hooks) if _touches(item.key, own_namespace)]
    hooks = (*lifecycle.pre_sync, *lifecycle.post_sync) if lifecycle is not None else ()
    inside += [
        f"hook {hook.name}" for hook in hooks if hook.job is not None and hook.namespace == own_namespace
    ]
    if inside:
        more = f" and {len(inside) - _NAMED} more" if len(inside) > _NAMED else ""
        raise Unsupported(
            f"{', '.join(inside[:_NAMED])}{more}: convoy itself runs in namespace {own_namespace}; "
            "start it with --allow-own-namespace to let Releases apply there"
        )


def _touches(key: ObjectKey, namespace: str) -> bool:
    return key.namespace == namespace or (key.group, key.kind, key.name) == ("", "Namespace", namespace)
