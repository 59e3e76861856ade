"""What the sync needs to know of a live object: its metadata alone.

Reading no more than that keeps Secret values out of the process where nobody needs them, and is cheaper by
far for large objects.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import parsedate_to_datetime

import msgspec

from convoy.api.names import MANAGER
from convoy.api.objects import ObjectKey
from convoy.kube.classify import error_of
from convoy.kube.client import Answer, KubeClient
from convoy.kube.errors import KindUnknown, NotFound, ScopeChanged, ServerFault
from convoy.kube.resources import Resource
from convoy.kube.retry import with_retries
from convoy.kube.targets import Target

METADATA_ONLY = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
"""The media type of an answer without spec and status; a server that does not know it sends the whole
object."""


@dataclass(frozen=True, slots=True)
class Live:
    """The metadata of one object as it is on the cluster."""

    uid: str
    resource_version: str = ""
    """Empty in the answer to a dry run of a create."""
    generation: int = 0
    """0 for kinds that keep none."""
    annotations: Mapping[str, str] = field(default_factory=dict)
    applied_by_convoy: bool = False
    """True if managedFields show an Apply by `convoy` (D13). An object of which convoy set no field at all,
    such as a ServiceAccount with a name alone, shows none: in doubt it is kept."""
    unchanged_for: float = 0.0
    """Seconds since convoy's Apply last changed a field, by the server's own clock; 0: nobody knows."""


class _ManagedFields(msgspec.Struct):
    manager: str = ""
    operation: str = ""
    subresource: str = ""
    time: datetime | None = None


class _Metadata(msgspec.Struct):
    uid: str = ""
    resourceVersion: str = ""
    generation: int = 0
    annotations: dict[str, str] | None = None
    managedFields: list[_ManagedFields] | None = None


class _Object(msgspec.Struct):
    metadata: _Metadata


_decoder = msgspec.json.Decoder(_Object)


def decode_live(answer: Answer) -> Live:
    """Read the metadata of the object in an answer.

    Raises:
        ServerFault: the answer is no object.
    """
    metadata = _decoded(answer).metadata
    applies = [
        each
        for each in metadata.managedFields or ()
        if (each.manager, each.operation, each.subresource) == (MANAGER, "Apply", "")
    ]
    return Live(
        uid=metadata.uid,
        resource_version=metadata.resourceVersion,
        generation=metadata.generation,
        annotations=metadata.annotations or {},
        applied_by_convoy=bool(applies),
        unchanged_for=_seconds_since(applies[0].time, answer) if applies else 0.0,
    )


def _seconds_since(moment: datetime | None, answer: Answer) -> float:
    now = answer.headers.get("Date")
    if moment is None or now is None:
        return 0.0
    return max(0.0, (parsedate_to_datetime(now) - moment).total_seconds())


def _decoded(answer: Answer) -> _Object:
    try:
        return _decoder.decode(answer.body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ServerFault(
            f"HTTP {answer.status} with an answer that is no object", status=answer.status
        ) from error


async def read_live(client: KubeClient, resource: Resource, key: ObjectKey) -> Live | None:
    """Return the metadata of a live object, or None if it is absent (its namespace included).

    Raises:
        ApiError: it cannot be read.
    """
    answer = await client.request("GET", resource.path(key.namespace, key.name), accept=METADATA_ONLY)
    if answer.status < 300:
        return decode_live(answer)
    error = error_of(answer.status, answer.headers, answer.body, resource=resource, name=key.name)
    if isinstance(error, NotFound):
        return None
    raise error


async def find_live(target: Target, key: ObjectKey) -> Live | None:
    """Return the metadata of an object, in whatever version its kind is served; None if it or its kind is absent (D19).

    Raises:
        ApiError: it cannot be read, so that nobody knows.
    """
    try:
        return await with_retries(
            lambda: target.discovery.ask(key, lambda resource: read_live(target.client, resource, key))
        )
    except (KindUnknown, ScopeChanged):
        return None
