"""The one way an object is sent: for the dry run and for the apply alike (D11)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from convoy.api.names import MANAGER
from convoy.api.objects import Manifest, ObjectKey, split_api_version
from convoy.api.release import IgnoreDifferences
from convoy.api.rendered import RenderedObject
from convoy.kube.classify import error_of
from convoy.kube.client import KubeClient
from convoy.kube.errors import NotFound
from convoy.kube.resources import Resource
from convoy.kube.targets import Target
from convoy.sync.body import build
from convoy.sync.ignored import ignored_paths
from convoy.sync.live import METADATA_ONLY, Live, decode_live

T = TypeVar("T")


async def resource_of(target: Target, item: RenderedObject) -> Resource:
    """Return how the target serves the kind of an object, in the version that the object names.

    Raises:
        KindUnknown: it does not.
        ApiError: it could not be asked.
    """
    _, version = split_api_version(item.api_version)
    return await target.discovery.resource_for(item.key.group, item.key.kind, version)


async def ask_about(target: Target, item: RenderedObject, call: Callable[[Resource], Awaitable[T]]) -> T:
    """Make a request about an object, in the version that it names.

    Raises:
        Exception: as `Discovery.ask`, or what `call` raises.
    """
    _, version = split_api_version(item.api_version)
    return await target.discovery.ask(item.key, call, version=version)


async def body_for(
    client: KubeClient,
    resource: Resource,
    item: RenderedObject,
    *,
    ignore: Sequence[IgnoreDifferences],
    uid: str = "",
) -> bytes:
    """Return the bytes to send. Reads the live object only where `ignoreDifferences` needs its values (D36).

    Raises:
        ApiError: the live object cannot be read.
        ValueError: the manifest has no form in JSON.
    """
    ignored = ignored_paths(item.key, ignore)
    live: Manifest | None = None
    if ignored:
        try:
            live = await client.get(resource, item.key.namespace, item.key.name)
        except NotFound:
            live = None
    return build(item.manifest, uid=uid, live=live, ignored=ignored)


async def send_apply(
    client: KubeClient, body: bytes, resource: Resource, key: ObjectKey, *, dry_run: bool
) -> Live:
    """Send a body with server-side apply (`fieldManager=convoy&force=true`); return the metadata that came
    back.

    The dry run of a create answers with an invented UID and no resourceVersion.

    Raises:
        ApiError: the server refused, or gave no answer.
    """
    params = {"fieldManager": MANAGER, "force": "true"}
    if dry_run:
        params["dryRun"] = "All"
    answer = await client.request(
        "PATCH",
        resource.path(key.namespace, key.name),
        params=params,
        body=body,
        content_type="application/apply-patch+yaml",
        accept=METADATA_ONLY,
    )
    if answer.status >= 300:
        raise error_of(answer.status, answer.headers, answer.body, resource=resource, name=key.name)
    return decode_live(answer)
