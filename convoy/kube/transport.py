"""HTTP to one API server, directly through aiohttp: bytes out, bytes in.

The official client costs three to ten times the CPU a request and dumps apply bodies itself. What it does well
(configuration, TLS, authentication) is used by `convoy.kube.connection`.

Hazards answered here: a server that answers nothing ends at the request's own timeout; a proxy of the environment
never sees a request (`trust_env`); a redirect never gets the token; an answer without end does not fill the memory.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from io import BytesIO
from ssl import SSLContext
from types import TracebackType
from typing import Self
from urllib.parse import urlencode

import aiohttp
from aiohttp.abc import AbstractResolver
from yarl import URL

from convoy.kube.classify import error_of
from convoy.kube.errors import ServerFault, Unreachable
from convoy.kube.resources import Resource

_LARGE_BODY = 256 * 1024
_MAX_ANSWER = 512 * 1024 * 1024

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


class Transport:
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
        return f"{type(self).__name__}({self.endpoint.server!r}, impersonate={self.endpoint.impersonate!r})"

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
                    timeout=_timeout(seconds, min(seconds, self.limits.connect_timeout)),
                    allow_redirects=False,
                    server_hostname=self.endpoint.server_name,
                    proxy=self.endpoint.proxy,
                ) as response:
                    return Answer(response.status, response.headers, await _read(response))
            except _NO_ANSWER as error:
                raise self._unreachable(error, seconds) from error

    @asynccontextmanager
    async def stream(
        self,
        path: str,
        *,
        params: Mapping[str, str],
        resource: Resource,
        total: float,
        silence: float,
        accept: str | None = None,
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
                headers=await self._headers(None, accept, None),
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

    def _require_open(self) -> None:
        if self._session.closed:
            raise Unreachable(f"{self.endpoint.server}: this connection was closed")

    def _url(self, path: str, params: Mapping[str, str] | None) -> URL:
        # encoded: aiohttp would otherwise undo the quoting of names and selectors.
        query = f"?{_query(tuple(params.items()))}" if params else ""
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


@lru_cache(maxsize=64)
def _query(params: tuple[tuple[str, str], ...]) -> str:
    return urlencode(params)


@lru_cache(maxsize=64)
def _timeout(total: float, connect: float) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=total, connect=connect)


def _payload(body: bytes | None) -> bytes | BytesIO | None:
    # aiohttp writes bytes in one piece, which blocks the loop and every heartbeat for a large CRD.
    return BytesIO(body) if body is not None and len(body) > _LARGE_BODY else body


async def _read(response: aiohttp.ClientResponse) -> bytes:
    chunks: list[bytes] = []
    size = 0
    async for chunk in response.content.iter_any():
        size += len(chunk)
        if size > _MAX_ANSWER:
            raise ServerFault(f"HTTP {response.status} with an answer above {_MAX_ANSWER} bytes")
        chunks.append(chunk)
    return b"".join(chunks)
