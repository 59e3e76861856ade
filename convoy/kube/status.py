"""Writing one manager's part of an object's status.

Server-side apply drops what a manager no longer sends, so each writer has a manager of its own and always
sends its full set. What is computed from other writers' fields (Ready) is sent with the resourceVersion
that it was computed from: without that, concurrent writers leave a wrong Ready (design 02, Status writers).
"""

from __future__ import annotations

from collections.abc import Callable

from convoy.api.objects import Manifest
from convoy.kube.client import KubeClient
from convoy.kube.encode import apply_body
from convoy.kube.errors import UidMismatch
from convoy.kube.resources import Resource
from convoy.kube.retry import with_retries

BUDGET_SECONDS = 15.0
"""How long a writer that keeps losing against others goes on."""


async def write_status(
    home: KubeClient,
    resource: Resource,
    namespace: str,
    name: str,
    *,
    manager: str,
    build: Callable[[Manifest], Manifest | None],
    known: Manifest | None = None,
) -> Manifest:
    """Apply the status that `build` makes of the object as it is, and return the object after it.

    `build` gets the whole object and returns the manager's full `status`, or None where there is nothing to
    write. It is called again after each write of somebody else. `known` saves the first read.

    Raises:
        NotFound: the object is gone.
        UidMismatch: it is another object than `known`.
        Conflict: others wrote in between each time, for `BUDGET_SECONDS`.
        ApiError: the server refused.
    """
    seen = known

    async def attempt() -> Manifest:
        nonlocal seen
        tree, seen = seen or await home.get(resource, namespace, name), None
        metadata = tree["metadata"]
        if known is not None and metadata["uid"] != known["metadata"]["uid"]:
            raise UidMismatch(f"{resource.key(namespace, name)} was deleted and made again", status=409)
        status = build(tree)
        if status is None:
            return tree
        guard = {field: metadata[field] for field in ("name", "namespace", "uid", "resourceVersion")}
        body = apply_body(
            {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": guard, "status": status}
        )
        return await home.apply(body, resource, namespace, name, manager=manager, subresource="status")

    # A conflict counts as retryable, and each try reads again.
    return await with_retries(attempt, budget=BUDGET_SECONDS)
