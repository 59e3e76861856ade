"""The Release that a workflow is about, read and written by its UID: never another one of the same name (D39)."""

from __future__ import annotations

from collections.abc import Callable

from activities.context import this_release
from convoy.api.objects import Manifest
from convoy.kube.client import KubeClient
from convoy.kube.errors import NotFound, UidMismatch
from convoy.kube.resources import RELEASES
from convoy.kube.retry import with_retries
from convoy.kube.status import write_status


async def read_release(home: KubeClient, uid: str) -> Manifest:
    """Return the Release as it is now.

    Raises:
        NotFound: it is gone, or another one by UID.
        ApiError: the server did not answer.
    """
    name = this_release()
    tree = await with_retries(lambda: home.get(RELEASES, name.namespace, name.name))
    if tree["metadata"]["uid"] != uid:
        raise NotFound(f"{RELEASES.key(name.namespace, name.name)} was deleted and made again")
    return tree


async def write_release_status(
    home: KubeClient,
    uid: str,
    build: Callable[[Manifest], Manifest | None],
    *,
    manager: str,
    known: Manifest | None = None,
) -> Manifest | None:
    """Write what `build` makes of the Release, as `write_status` does, and return the Release after it.

    None where it is gone, or another one by UID: then nothing is written, and the next step says so. An empty `uid`,
    of a workflow that was started by hand, stands for any.

    Raises:
        Conflict, ApiError: it cannot be written.
    """
    name = this_release()

    def is_meant(tree: Manifest) -> bool:
        return uid in ("", tree["metadata"]["uid"])

    try:
        tree = await write_status(
            home,
            RELEASES,
            name.namespace,
            name.name,
            manager=manager,
            build=lambda tree: build(tree) if is_meant(tree) else None,
            known=known,
        )
    except (NotFound, UidMismatch):
        return None
    return tree if is_meant(tree) else None
