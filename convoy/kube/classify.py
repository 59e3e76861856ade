"""From an HTTP answer to an error: pure, and the only place that knows how a real API server words things.

The user's mistakes come as 400, 403, 413, 415, 422 and also as 500 (a manifest that does not fit the schema
of server-side apply), so code, reason, causes and wording decide together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from convoy.kube.errors import (
    AlreadyExists,
    ApiError,
    Cause,
    Conflict,
    Forbidden,
    Gone,
    Invalid,
    KindUnknown,
    NamespaceMissing,
    NamespaceTerminating,
    NotFound,
    Rejected,
    ServerFault,
    TooManyRequests,
    UidMismatch,
    Unauthorized,
)
from convoy.kube.resources import Resource
from convoy.kube.scrub import CAUSE_LIMIT, scrub, scrub_cause, shorten

# Server-side apply answers these with 500, although the manifest is at fault.
_USERS_500 = re.compile(
    r"failed to create typed patch object"
    r"|failed to convert new object .*(?:error decoding|unable to convert unstructured)"
    r"|failed to prune fields"
    r"|\bis not a list\b"
    r"|etcdserver: request is too large"
    r"|trying to send message larger than max",
    re.DOTALL,
)
# `failed to create typed patch object (demo/web; apps/v1, Kind=Deployment): .spec.foo: field not declared`
_TYPED_PATCH = re.compile(
    r"failed to create typed patch object \([^)]*\): (?:errors:\s*)?(?P<rest>.*)", re.DOTALL
)
_TYPED_CAUSE = re.compile(r"^\s*(?P<field>\.[^\s:]+|\.\S*?): (?P<message>.*)$", re.DOTALL)
# `failed to convert new object (…) to proper version: unable to convert …: error decoding from json:
# illegal base64`
_DECODING = re.compile(r"failed to convert new object .*?(?P<rest>error decoding .*)", re.DOTALL)
_UID = re.compile(r"\buid mismatch\b|\bUID in the precondition\b|precondition failed: UID", re.IGNORECASE)


class _StatusCause(msgspec.Struct):
    field: str = ""
    reason: str = ""
    message: str = ""


class _Details(msgspec.Struct):
    name: str = ""
    kind: str = ""
    causes: list[_StatusCause] | None = None
    retryAfterSeconds: int = 0


class _Status(msgspec.Struct):
    kind: str = ""
    message: str = ""
    reason: str = ""
    details: _Details | None = None
    code: int = 0


_decoder = msgspec.json.Decoder(_Status)


def error_of(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    resource: Resource | None = None,
    name: str = "",
) -> ApiError:
    """Return the error that an answer of status 300 and above stands for.

    `resource` and `name` are those of the request; without them a Secret's answer cannot be told from
    another one's, so pass them wherever an object is sent or read.
    """
    parsed = _parse(body)
    if parsed is None:
        return _without_status(status, headers, resource)
    return _of_status(status, headers, parsed, resource=resource, name=name)


def error_of_event(tree: Any, *, resource: Resource) -> ApiError:
    """Return the error inside an `ERROR` event of a watch: a Status that came with a 200."""
    try:
        parsed = msgspec.convert(tree, _Status)
    except msgspec.ValidationError:
        return ServerFault("the watch sent an ERROR event without a Status", status=500)
    return _of_status(parsed.code or 500, {}, parsed, resource=resource, name="")


def _parse(body: bytes) -> _Status | None:
    try:
        parsed = _decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return parsed if parsed.kind == "Status" else None


def _without_status(status: int, headers: Mapping[str, str], resource: Resource | None) -> ApiError:
    # The body is dropped: it comes from a proxy or from something that is no API server, and may hold
    # anything.
    if status == 404:
        return _kind_unknown(resource)
    text = f"HTTP {status} without a Status in the answer"
    if 300 <= status < 400:
        return ServerFault(f"HTTP {status}: a redirect, which is never followed", status=status)
    return _class_of(status, "")(text, status=status, retry_after=_retry_after(headers, None))


def _of_status(
    status: int, headers: Mapping[str, str], parsed: _Status, *, resource: Resource | None, name: str
) -> ApiError:
    details = parsed.details or _Details()
    secret = (resource is not None and resource.is_secret) or details.kind in {"Secret", "secrets"}
    causes = tuple(dict.fromkeys(Cause(c.field, c.reason, c.message) for c in details.causes or ()))
    message = parsed.message or parsed.reason or f"HTTP {status}"

    found = _pick(status, parsed, details, causes, resource=resource, name=name)
    if found is KindUnknown:
        return _kind_unknown(resource)
    if found is NamespaceMissing:
        message = f"namespace {details.name} does not exist"
    decoding = _DECODING.search(message)
    if decoding is not None:
        message = decoding["rest"]
    typed = _TYPED_PATCH.search(message)
    if typed is not None:
        message = typed["rest"].strip()
        causes = causes or _typed_causes(message)
    if secret:
        causes = tuple(scrub_cause(cause) for cause in causes)
        message = scrub(message, causes)
    for cause in causes:
        # In the message too, so that a cause that is a part of it still is one.
        message = message.replace(cause.message, shorten(cause.message, CAUSE_LIMIT))
    causes = tuple(Cause(c.field, c.type, shorten(c.message, CAUSE_LIMIT)) for c in causes)
    return found(
        shorten(message), status=status, causes=causes, retry_after=_retry_after(headers, parsed.details)
    )


def _pick(
    status: int,
    parsed: _Status,
    details: _Details,
    causes: tuple[Cause, ...],
    *,
    resource: Resource | None,
    name: str,
) -> type[ApiError]:
    match status:
        case 404 if not details.kind and not details.name:
            return KindUnknown
        case 404 if details.kind == "namespaces" and not _is_namespace(resource, name, details.name):
            return NamespaceMissing
        case 403 if any(cause.type == "NamespaceTerminating" for cause in causes):
            return NamespaceTerminating
        case 409 if parsed.reason == "AlreadyExists":
            return AlreadyExists
        case 409 if _UID.search(parsed.message):
            return UidMismatch
        case 422 if any(c.field == "metadata.uid" and "immutable" in c.message for c in causes):
            # A live object with another UID answers so; a missing one answers 409.
            return UidMismatch
        case 500 if _USERS_500.search(parsed.message):
            return Invalid
        case _:
            return _class_of(status, parsed.reason)


def _class_of(status: int, reason: str) -> type[ApiError]:
    match status:
        case 401:
            return Unauthorized
        case 403:
            return Forbidden
        case 404:
            return NotFound
        case 409:
            return Conflict
        case 410:
            return Gone
        case 422:
            return Invalid
        case 429:
            return TooManyRequests
        case 408:
            return ServerFault
        case _ if 400 <= status < 500:
            return Rejected
        case _ if reason in {"Expired", "Gone"}:
            return Gone
        case _:
            return ServerFault


def _is_namespace(resource: Resource | None, name: str, missing: str) -> bool:
    return resource is not None and resource.plural == "namespaces" and not resource.group and name == missing


def _kind_unknown(resource: Resource | None) -> KindUnknown:
    if resource is None:
        return KindUnknown("the server does not know this path", status=404)
    return KindUnknown(unknown_kind(resource.group, resource.kind, resource.version), status=404)


def unknown_kind(group: str, kind: str, version: str | None = None) -> str:
    """Return the message about a kind that the cluster does not serve."""
    full = f"{kind}.{group}" if group else kind
    wanted = f" in version {version}" if version else ""
    return f"the cluster does not know the kind {full}{wanted}"


def _typed_causes(message: str) -> tuple[Cause, ...]:
    found = [_TYPED_CAUSE.match(line) for line in re.split(r"\n\s*(?=\.)", message)]
    return tuple(Cause(m["field"].lstrip("."), "", m["message"].strip()) for m in found if m is not None)


def _retry_after(headers: Mapping[str, str], details: _Details | None) -> float | None:
    # RFC 9110 allows a date as well; API servers and their proxies send seconds.
    text = headers.get("Retry-After", "")
    if text.isascii() and text.isdigit():
        return float(text)
    if details is not None and details.retryAfterSeconds > 0:
        return float(details.retryAfterSeconds)
    return None
