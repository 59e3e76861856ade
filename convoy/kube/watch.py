"""One watch: the events of a collection from a resourceVersion on, until the server ends it.

Lines are cut here and not by aiohttp, whose line reader refuses lines above its buffer: an event holds a
whole object. A line that a broken connection cut short is an error and not an event.
"""

from __future__ import annotations

import random
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
import structlog

from convoy.api.objects import Manifest
from convoy.kube.classify import error_of_event
from convoy.kube.client import KubeClient
from convoy.kube.encode import decode, decode_cut
from convoy.kube.errors import Unreachable
from convoy.kube.resources import Resource

_log = structlog.get_logger(__name__)

EventType = Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """What the server says happened. A BOOKMARK's object holds a resourceVersion and nothing else."""

    type: EventType
    object: Manifest


async def watch(
    client: KubeClient,
    resource: Resource,
    namespace: str | None,
    *,
    resource_version: str,
    label_selector: str | None = None,
    field_selector: str | None = None,
    lifetime: float = 240.0,
    silence: float = 100.0,
    accept: str | None = None,
) -> AsyncGenerator[WatchEvent, None]:
    """Yield events until the server ends the watch, which it is asked to do after `lifetime` to 1.25 of it.

    The lifetime is random so that the watches of many processes do not end together. A connection on which
    nothing comes for `silence` seconds counts as broken: bookmarks come about once a minute. `accept` is the media
    type of the objects. An object that is nested too deeply to be read counts as deleted.

    Raises:
        Gone: the resourceVersion is too old, said by status or by an ERROR event.
        ApiError: the server refused, or the connection broke.
    """
    seconds = max(1, round(lifetime * random.uniform(1.0, 1.25)))
    params = {
        "watch": "true",
        "allowWatchBookmarks": "true",
        "resourceVersion": resource_version,
        "timeoutSeconds": str(seconds),
    }
    if label_selector:
        params["labelSelector"] = label_selector
    if field_selector:
        params["fieldSelector"] = field_selector
    path = resource.path(namespace)
    async with client.stream(
        path, params=params, resource=resource, total=seconds + silence, silence=silence, accept=accept
    ) as chunks:
        pending = bytearray()
        async for chunk in chunks:
            pending += chunk
            end = pending.rfind(b"\n", len(pending) - len(chunk))
            if end < 0:
                continue
            lines = bytes(pending[:end])
            del pending[: end + 1]
            for line in lines.split(b"\n"):
                if line.strip():
                    yield _event(line, resource)
        if pending.strip():
            raise Unreachable(f"the watch of {resource.plural} ended in the middle of an event")


def _event(line: bytes, resource: Resource) -> WatchEvent:
    try:
        tree: Any = _decode(line, resource)
        kind, subject = tree["type"], tree["object"]
    except (msgspec.DecodeError, UnicodeDecodeError, KeyError, TypeError) as error:
        raise Unreachable(f"the watch of {resource.plural} sent a line that is no event") from error
    if kind == "ERROR":
        raise error_of_event(subject, resource=resource)
    if kind not in {"ADDED", "MODIFIED", "DELETED", "BOOKMARK"} or not isinstance(subject, dict):
        raise Unreachable(f"the watch of {resource.plural} sent an event that is not known")
    return WatchEvent(kind, subject)


def _decode(line: bytes, resource: Resource) -> Any:
    try:
        return decode(line)
    except RecursionError:
        # As good as absent: whoever wrote it must not end the watch of all the others.
        tree = decode_cut(line)
    metadata = tree["object"]["metadata"]
    key = resource.key(metadata.get("namespace"), metadata["name"])
    _log.error("object-nested-too-deeply", resource=resource.plural, object=str(key))
    return {"type": "DELETED", "object": {"metadata": metadata}}
