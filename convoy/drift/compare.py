"""The compare of one object: read it, send its apply as a dry run, compare the answers (`reference/drift`).

Exactly two requests, one for a Missing object (D30). The hazard is a torn pair: a controller writes between
the read and the dry run, and its write shows as drift that nobody made. The dry run's answer carries the live
object's resourceVersion, so a torn pair is seen and read again, once: an object that changes all the time is
compared as it is, rather than never.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from convoy.api.objects import Manifest, ObjectKey, split_api_version
from convoy.api.rendered import RenderedObject
from convoy.drift.changes import FieldChange, field_changes, pointer_of
from convoy.drift.fingerprints import without_secret_values
from convoy.drift.results import DriftStatus, ObjectDrift
from convoy.kube.client import KubeClient
from convoy.kube.discovery import Discovery
from convoy.kube.errors import NotFound
from convoy.kube.resources import Resource
from convoy.sync.body import build
from convoy.sync.ignored import live_path

OnLive = Callable[[ObjectKey, Manifest | None], Awaitable[None]]
"""Told of each live object that was read."""


async def ignore_live(key: ObjectKey, live: Manifest | None) -> None:
    """Stand in where nobody asks for the live objects."""


async def compare_object(
    rendered: RenderedObject,
    *,
    client: KubeClient,
    discovery: Discovery,
    key: bytes,
    ignored: Sequence[str] = (),
    on_live: OnLive = ignore_live,
) -> ObjectDrift:
    """Return the status and the field changes of one object.

    `key` is the installation's, for the fingerprints of Secret values (D40); `ignored` are the JSON pointers
    of `spec.ignoreDifferences` that apply to this object (D36). `on_live` is given the live object, or None where
    there is none: whoever wants its health needs no request.

    Raises:
        KindUnknown: the cluster does not know the kind.
        ScopeChanged: the next render has another key for it.
        ApiError: the read failed, or the cluster rejected the dry run.
    """
    pair = await _read_pair(rendered, client=client, discovery=discovery, ignored=ignored)
    await on_live(rendered.key, pair[0] if pair is not None else None)
    if pair is None:
        return ObjectDrift(rendered.key, DriftStatus.MISSING)
    live, desired = pair
    paths = [live_path(pointer, rendered.manifest, live) for pointer in ignored]
    left = [pointer_of(path) for path in paths if path is not None]
    changes = tuple(
        change for change in field_changes(live=live, desired=desired) if not _is_ignored(change, left)
    )
    if not changes:
        return ObjectDrift(rendered.key, DriftStatus.IN_SYNC)
    shown = without_secret_values(changes, subject=rendered.key, key=key)
    return ObjectDrift(rendered.key, DriftStatus.MODIFIED, shown)


async def _read_pair(
    rendered: RenderedObject, *, client: KubeClient, discovery: Discovery, ignored: Sequence[str]
) -> tuple[Manifest, Manifest] | None:
    async def read(resource: Resource) -> tuple[Manifest, Manifest] | None:
        at = (resource, rendered.key.namespace, rendered.key.name)
        for _ in range(2):
            try:
                live = await client.get(*at)
            except NotFound:
                return None
            body = build(rendered.manifest, live=live, ignored=ignored)
            desired = await client.apply(body, *at, dry_run=True)
            if _version(live) == _version(desired):
                break
        # A dry run that would create the object has no resourceVersion: it was deleted after the read, twice.
        return (live, desired) if _version(desired) else None

    _, version = split_api_version(rendered.api_version)
    return await discovery.ask(rendered.key, read, version=version)


def _version(manifest: Manifest) -> str:
    version: str = manifest["metadata"].get("resourceVersion", "")
    return version


def _is_ignored(change: FieldChange, ignored: Sequence[str]) -> bool:
    return any(change.pointer == path or change.pointer.startswith(f"{path}/") for path in ignored)
