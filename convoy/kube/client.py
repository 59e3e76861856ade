"""One API server, spoken to directly through aiohttp: plain trees in, plain trees out.

The official client costs three to ten times the CPU a request, dumps apply bodies itself and knows only its
models (docs/design). What it does well (configuration, TLS, authentication) is used by
`convoy.kube.connection`.

Hazards answered here: a server that answers nothing ends at the request's own timeout; a proxy of the
environment never sees a request (`trust_env`); a redirect never gets the token; an answer without end does
not fill the memory; an answer that is no Status never enters an error.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from io import BytesIO
from ssl import SSLContext
from types import TracebackType
from typing import Any, Literal, Self
from urllib.parse import urlencode

import aiohttp
import msgspec
from aiohttp.abc import AbstractResolver
from yarl import URL

from convoy.api.names import MANAGER
from convoy.api.objects import Manifest
from convoy.kube.classify import error_of
from convoy.kube.encode import decode, encode
from convoy.kube.errors import Gone, ServerFault, Unreachable
from convoy.kube.resources import Resource

PAGE = 500
"""Objects a page of a list."""
_LARGE_BODY = 256 * 1024
_MAX_ANSWER = 512 * 1024 * 1024
_APPLY = "application/apply-patch+yaml"
_PATCHES = {"merge": "application/merge-patch+json", "json": "application/json-patch+json"}

# Everything that aiohttp raises for a request that got no answer. OSError: resets while a body is read.
_NO_ANSWER = (aiohttp.ClientError, TimeoutError, OSError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long and how much at a time (Cluster: connectTimeout, requestTimeout, maxInFlight)."""

    connect_timeout: float = 5.0
    """Seconds for name resolution, connection and TLS."""
    request_timeout: float = 30.0
    """Seconds for a whole request, the answer's body included; waiting for a free slot is not."""
    max_in_flight: int = 32
    """Simultaneous requests; watches do not count."""


async def _anonymous() -> str | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where an API server is and how to be let in."""

    server: str
    """URL, without a slash at its end."""
    ssl: SSLContext | None = None
    server_name: str | None = None
    """The name expected in the server's certificate, where it is not the URL's."""
    authorization: Callable[[], Awaitable[str | None]] = field(default=_anonymous, repr=False)
    """Returns the Authorization header; asked before each request, since tokens rotate."""
    impersonate: str | None = None
    """User to act as; the server adds the groups of a service account by itself."""
    proxy: str | None = field(default=None, repr=False)
    resolver: Callable[[], AbstractResolver] | None = None
    """Makes the name resolver that refuses addresses (D41)."""
    refresh: Callable[[], Awaitable[None]] | None = None
    """Runs as long as the client, to keep the token fresh."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, whatever its status."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class KubeClient:
    """One API server as one identity. Made inside the event loop that uses it; must be closed."""

    def __init__(self, endpoint: Endpoint, *, limits: Limits | None = None) -> None:
        self.endpoint = endpoint
        self.limits = limits or Limits()
        self.last_used = time.monotonic()
        """When the latest request began, by the monotonic clock."""
        self._in_flight = asyncio.Semaphore(self.limits.max_in_flight)
        self._session = aiohttp.ClientSession(
            # The semaphore bounds requests; a bound of the connector would let watches starve them.
            connector=aiohttp.TCPConnector(
                limit=0,
                ssl=endpoint.ssl if endpoint.ssl is not None else True,
                keepalive_timeout=60,
                resolver=endpoint.resolver() if endpoint.resolver is not None else None,
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            read_bufsize=2**20,
            skip_auto_headers=("User-Agent",),
            headers={"User-Agent": "convoy"},
        )
        self._refresh = asyncio.ensure_future(endpoint.refresh()) if endpoint.refresh is not None else None

    def __repr__(self) -> str:
        return f"KubeClient({self.endpoint.server!r}, impersonate={self.endpoint.impersonate!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close every connection. Requests that are under way end with `Unreachable`."""
        if self._refresh is not None:
            self._refresh.cancel()
            await asyncio.gather(self._refresh, return_exceptions=True)
        await self._session.close()

    async def request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: bytes | None = None,
        content_type: str | None = None,
        accept: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> Answer:
        """Send one request and return the answer, whatever its status.

        `timeout` in seconds replaces the client's request timeout.

        Raises:
            Unreachable: no whole answer came within the time.
            Unauthorized: the credentials cannot be read.
        """
        seconds = self.limits.request_timeout if timeout is None else timeout
        async with self._in_flight:
            self._require_open()
            self.last_used = time.monotonic()
            try:
                async with self._session.request(
                    method,
                    self._url(path, params),
                    data=_payload(body),
                    headers=await self._headers(content_type, accept, headers),
                    timeout=aiohttp.ClientTimeout(
                        total=seconds, connect=min(seconds, self.limits.connect_timeout)
                    ),
                    allow_redirects=False,
                    server_hostname=self.endpoint.server_name,
                    proxy=self.endpoint.proxy,
                ) as response:
                    return Answer(response.status, response.headers, await _read(response))
            except _NO_ANSWER as error:
                raise self._unreachable(error, seconds) from error

    @asynccontextmanager
    async def stream(
        self, path: str, *, params: Mapping[str, str], resource: Resource, total: float, silence: float
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """Open an answer that goes on (a watch) and yield its chunks; takes no slot of `max_in_flight`.

        `total` bounds the stream, `silence` the time between two chunks (a half-open connection), in seconds.

        Raises:
            ApiError: the server refused, or the stream broke.
        """
        self._require_open()
        try:
            async with self._session.get(
                self._url(path, params),
                headers=await self._headers(None, None, None),
                timeout=aiohttp.ClientTimeout(
                    total=total, connect=self.limits.connect_timeout, sock_read=silence
                ),
                allow_redirects=False,
                server_hostname=self.endpoint.server_name,
                proxy=self.endpoint.proxy,
            ) as response:
                if response.status >= 300:
                    raise error_of(
                        response.status, response.headers, await _read(response), resource=resource
                    )
                yield response.content.iter_any()
        except _NO_ANSWER as error:
            raise self._unreachable(error, silence) from error

    async def get(self, resource: Resource, namespace: str | None, name: str) -> Manifest:
        """Read one object.

        Raises:
            NotFound: it is absent.
            ApiError: any other refusal.
        """
        return _tree(await self._call("GET", resource, namespace, name))

    async def list(
        self,
        resource: Resource,
        namespace: str | None = None,
        *,
        label_selector: str | None = None,
        field_selector: str | None = None,
        limit: int = PAGE,
    ) -> list[Manifest]:
        """Read all objects of a kind, of all namespaces if `namespace` is empty, `limit` a page.

        Raises:
            ApiError: the server refused.
        """
        for _ in range(3):
            found: list[Manifest] = []
            try:
                async for page in self.pages(
                    resource,
                    namespace,
                    label_selector=label_selector,
                    field_selector=field_selector,
                    limit=limit,
                ):
                    found.extend(page.items)
            except Gone:
                # The pages took longer than the server keeps versions: only a new list is consistent.
                continue
            return found
        raise ServerFault(
            f"the list of {resource.plural} expired three times before its last page", status=410
        )

    async def pages(
        self,
        resource: Resource,
        namespace: str | None = None,
        *,
        label_selector: str | None = None,
        field_selector: str | None = None,
        limit: int = PAGE,
    ) -> AsyncIterator[Page]:
        """Read a consistent list page by page.

        Raises:
            Gone: the list expired between two pages.
            ApiError: any other refusal.
        """
        params = {"limit": str(limit)}
        if label_selector:
            params["labelSelector"] = label_selector
        if field_selector:
            params["fieldSelector"] = field_selector
        while True:
            tree = _tree(await self._call("GET", resource, namespace, None, params=params))
            metadata = tree.get("metadata") or {}
            items = tree.get("items") or []
            for item in items:
                # The items of a list do not say what they are.
                item["apiVersion"] = resource.api_version
                item["kind"] = resource.kind
            yield Page(items, metadata.get("resourceVersion") or "0")
            if not metadata.get("continue"):
                return
            params["continue"] = metadata["continue"]

    async def create(
        self, manifest: Manifest, resource: Resource, *, manager: str = MANAGER, dry_run: bool = False
    ) -> Manifest:
        """Create an object with POST, in the namespace that it names.

        Raises:
            AlreadyExists: it is there.
            ApiError: any other refusal.
        """
        metadata = manifest.get("metadata") or {}
        return _tree(
            await self._call(
                "POST",
                resource,
                metadata.get("namespace"),
                None,
                params=_write(manager, dry_run=dry_run),
                body=encode(manifest),
                content_type="application/json",
            )
        )

    async def apply(
        self,
        body: bytes,
        resource: Resource,
        namespace: str | None,
        name: str,
        *,
        manager: str = MANAGER,
        force: bool = True,
        dry_run: bool = False,
        subresource: str | None = None,
        timeout: float | None = None,
    ) -> Manifest:
        """Send a server-side apply; `body` comes from `apply_body`, the same bytes for a dry run (D11).

        Raises:
            UidMismatch: `metadata.uid` of the body is not that of the live object.
            Conflict: `metadata.resourceVersion` of the body is not that of the live object.
            NamespaceMissing, KindUnknown, Rejected, Forbidden, ApiError: the server refused.
        """
        params = _write(manager, dry_run=dry_run)
        params["force"] = "true" if force else "false"
        return _tree(
            await self._call(
                "PATCH",
                resource,
                namespace,
                name,
                subresource=subresource,
                params=params,
                body=body,
                content_type=_APPLY,
                timeout=timeout,
            )
        )

    async def patch(
        self,
        resource: Resource,
        namespace: str | None,
        name: str,
        patch: Any,
        *,
        kind: Literal["merge", "json"] = "merge",
        manager: str = MANAGER,
        subresource: str | None = None,
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> Manifest:
        """Send a JSON merge patch (RFC 7396) or a JSON patch (RFC 6902).

        Raises:
            NotFound: the object is absent.
            Conflict: the patch names a resourceVersion that is not the live one.
            ApiError: any other refusal.
        """
        return _tree(
            await self._call(
                "PATCH",
                resource,
                namespace,
                name,
                subresource=subresource,
                params=_write(manager, dry_run=dry_run),
                body=encode(patch),
                content_type=_PATCHES[kind],
                timeout=timeout,
            )
        )

    async def delete(
        self,
        resource: Resource,
        namespace: str | None,
        name: str,
        *,
        uid: str | None = None,
        resource_version: str | None = None,
        propagation: Literal["Background", "Foreground", "Orphan"] = "Background",
        dry_run: bool = False,
    ) -> None:
        """Delete an object, only if it still has this UID and this resourceVersion (D17).

        Raises:
            NotFound: it is absent already.
            UidMismatch: another object has its name now.
            Conflict: it was changed since `resource_version`.
            ApiError: any other refusal.
        """
        preconditions = {"uid": uid, "resourceVersion": resource_version}
        options: dict[str, Any] = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": propagation,
            "preconditions": {field: value for field, value in preconditions.items() if value},
        }
        if dry_run:
            # In the body: where there is one, the server ignores the query, and would really delete.
            options["dryRun"] = ["All"]
        await self._call(
            "DELETE",
            resource,
            namespace,
            name,
            body=encode(options),
            content_type="application/json",
        )

    async def _call(
        self,
        method: str,
        resource: Resource,
        namespace: str | None,
        name: str | None,
        *,
        subresource: str | None = None,
        params: Mapping[str, str] | None = None,
        body: bytes | None = None,
        content_type: str | None = None,
        timeout: float | None = None,
    ) -> Answer:
        answer = await self.request(
            method,
            resource.path(namespace, name, subresource),
            params=params,
            body=body,
            content_type=content_type,
            timeout=timeout,
        )
        if answer.status >= 300:
            raise error_of(answer.status, answer.headers, answer.body, resource=resource, name=name or "")
        return answer

    def _require_open(self) -> None:
        if self._session.closed:
            raise Unreachable(f"{self.endpoint.server}: this connection was closed")

    def _url(self, path: str, params: Mapping[str, str] | None) -> URL:
        # encoded: aiohttp would otherwise undo the quoting of names and selectors.
        query = f"?{urlencode(params)}" if params else ""
        return URL(f"{self.endpoint.server}{path}{query}", encoded=True)

    async def _headers(
        self, content_type: str | None, accept: str | None, more: Mapping[str, str] | None
    ) -> dict[str, str]:
        headers = {"Accept": accept or "application/json"}
        if content_type:
            headers["Content-Type"] = content_type
        authorization = await self.endpoint.authorization()
        if authorization:
            headers["Authorization"] = authorization
        if self.endpoint.impersonate:
            headers["Impersonate-User"] = self.endpoint.impersonate
        if more:
            headers.update(more)
        return headers

    def _unreachable(self, error: BaseException, seconds: float) -> Unreachable:
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            why = f"no connection within {min(seconds, self.limits.connect_timeout):g} s"
        elif isinstance(error, TimeoutError):
            why = f"no answer within {seconds:g} s"
        else:
            # The texts of aiohttp and of the system name hosts, ports and certificates, never a body or a
            # header.
            why = str(error) or type(error).__name__
        return Unreachable(f"{self.endpoint.server}: {why}")


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a list; `resource_version` is that of the whole list."""

    items: list[Manifest]
    resource_version: str


def _payload(body: bytes | None) -> bytes | BytesIO | None:
    # aiohttp writes bytes in one piece, which blocks the loop and every heartbeat for a large CRD.
    return BytesIO(body) if body is not None and len(body) > _LARGE_BODY else body


def _write(manager: str, *, dry_run: bool) -> dict[str, str]:
    params = {"fieldManager": manager}
    if dry_run:
        params["dryRun"] = "All"
    return params


def _tree(answer: Answer) -> Manifest:
    try:
        tree = decode(answer.body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ServerFault(
            f"HTTP {answer.status} with an answer that is no JSON", status=answer.status
        ) from error
    if not isinstance(tree, dict):
        raise ServerFault(f"HTTP {answer.status} with an answer that is no object", status=answer.status)
    return tree


async def _read(response: aiohttp.ClientResponse) -> bytes:
    chunks: list[bytes] = []
    size = 0
    async for chunk in response.content.iter_any():
        size += len(chunk)
        if size > _MAX_ANSWER:
            raise ServerFault(f"HTTP {response.status} with an answer above {_MAX_ANSWER} bytes")
        chunks.append(chunk)
    return b"".join(chunks)
