"""A Release must not change the namespace that convoy runs in: it would hold convoy's own rights (D16)."""

from __future__ import annotations

from convoy.api.errors import Unsupported
from convoy.api.objects import ObjectKey
from convoy.api.rendered import Render

_NAMED = 10


def refuse_own_namespace(render: Render, own_namespace: str) -> None:
    """Refuse a render with objects in convoy's own namespace, or with that namespace itself.

    Only for a target that is the cluster convoy runs in, and not with `--allow-own-namespace`.

    Raises:
        Unsupported: naming the objects.
    """
    inside = [item.key for item in render.objects if _touches(item.key, own_namespace)]
    if inside:
        more = f" and {len(inside) - _NAMED} more" if len(inside) > _NAMED else ""
        names = ", ".join(map(str, inside[:_NAMED]))
        raise Unsupported(
            f"{names}{more}: convoy itself runs in namespace {own_namespace}; "
            "start it with --allow-own-namespace to let Releases apply there"
        )


def _touches(key: ObjectKey, namespace: str) -> bool:
    return key.namespace == namespace or (key.group, key.kind, key.name) == ("", "Namespace", namespace)
