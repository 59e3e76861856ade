"""HTTP to where a tenant points: HTTP sources, Helm repositories, OCI registries.

Hazards answered here (D41): a name that resolves to convoy's own loopback or to the metadata service, also behind a
redirect; a proxy of the environment; credentials that follow a redirect to another host; an answer without end, or one
that never comes. Redirects are followed by hand, since each of their URLs is judged like the first.
"""

from __future__ import annotations

import asyncio
import hashlib
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final, Self
from urllib.parse import urljoin, urlsplit

import aiohttp

from convoy.api.errors import SourceNotReady, Unsupported
from convoy.kube.addresses import AddressRefused, GuardedResolver, refusal
from convoy.sources.fetched import SourceOptions

_MAX_REDIRECTS: Final = 5
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_CHUNK: Final = 256 * 1024
_TOLD: Final = "allowed by --allow-addresses"


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer whose body was read."""

    status: int
    headers: Mapping[str, str]
    """Looked up in any case."""
    body: bytes = field(repr=False)
    url: str


@dataclass(frozen=True, slots=True)
class Login:
    """How to be let in at one origin."""

    authorization: str | None = field(default=None, repr=False)
    ca: bytes | None = field(default=None, repr=False)
    """Certificates to trust besides those of the system, in PEM."""


class Web:
    """One session of a fetch. Credentials go to the origin of `url` and nowhere else."""

    def __init__(
        self, session: aiohttp.ClientSession, url: str, login: Login, options: SourceOptions
    ) -> None:
        self._session = session
        self._origin = origin_of(url)
        self._login = login
        self._options = options

    @classmethod
    @asynccontextmanager
    async def open(cls, url: str, *, login: Login, options: SourceOptions) -> AsyncIterator[Self]:
        """Open a session for a source's URL.

        Raises:
            SourceNotReady: the Secret's certificate is none.
        """
        try:
            context = _context(login.ca)
        except (ssl.SSLError, ValueError):
            raise SourceNotReady(
                f"{shown(url)}: the certificates in caFile of secretRef are no PEM"
            ) from None
        resolver = None if options.allow_private_addresses else GuardedResolver(options.allowed_networks)
        connector = aiohttp.TCPConnector(ssl=context, resolver=resolver, limit=8)
        async with aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            timeout=aiohttp.ClientTimeout(total=options.timeout, sock_connect=min(10.0, options.timeout)),
            headers={"User-Agent": "convoy"},
        ) as session:
            yield cls(session, url, login, options)

    async def get(
        self,
        url: str,
        *,
        most: int,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        authorization: str | None = None,
    ) -> Reply:
        """Send a request and read the whole answer, whatever its status.

        Args:
            url: absolute.
            most: bytes that the body may have.
            method: GET or HEAD.
            headers: further headers.
            authorization: in place of the login's, for the origin of `url`; empty sends none.

        Raises:
            SourceNotReady: no answer, a refused address, or a body that is too long.
        """
        async with self._answer(method, url, headers or {}, authorization) as (answer, at):
            parts, size = [], 0
            async for part in answer.content.iter_chunked(_CHUNK):
                size += len(part)
                if size > most:
                    raise SourceNotReady(f"{shown(url)}: the answer has more than {most} bytes")
                parts.append(part)
            return Reply(answer.status, answer.headers, b"".join(parts), at)

    async def download(
        self,
        url: str,
        path: Path,
        *,
        most: int,
        headers: Mapping[str, str] | None = None,
        authorization: str | None = None,
    ) -> tuple[Reply, str]:
        """Write the body of a 200 to a new file; return the answer, and the body's SHA-256 in hex.

        Any other answer has no file and the digest "". Raises as `get` does.
        """
        async with self._answer("GET", url, headers or {}, authorization) as (answer, at):
            reply = Reply(answer.status, answer.headers, b"", at)
            if answer.status != 200:
                return reply, ""
            digest, size = hashlib.sha256(), 0
            with await asyncio.to_thread(path.open, "xb") as file:
                async for part in answer.content.iter_chunked(_CHUNK):
                    size += len(part)
                    if size > most:
                        raise SourceNotReady(f"{shown(url)}: the file has more than {most} bytes")
                    digest.update(part)
                    await asyncio.to_thread(file.write, part)
            return reply, digest.hexdigest()

    @asynccontextmanager
    async def _answer(
        self, method: str, url: str, headers: Mapping[str, str], authorization: str | None
    ) -> AsyncIterator[tuple[aiohttp.ClientResponse, str]]:
        first = origin_of(url)
        try:
            for _ in range(_MAX_REDIRECTS + 1):
                self._check(url)
                sent = dict(headers)
                value = authorization if authorization is not None else self._login.authorization
                allowed = first if authorization is not None else self._origin
                if value and origin_of(url) == allowed:
                    sent["Authorization"] = value
                async with self._session.request(method, url, headers=sent, allow_redirects=False) as answer:
                    location = answer.headers.get("Location")
                    if answer.status not in _REDIRECTS or not location:
                        yield answer, url
                        return
                    following = urljoin(url, location)
                    if urlsplit(url).scheme == "https" and urlsplit(following).scheme != "https":
                        raise SourceNotReady(f"{shown(url)} redirects from https to {shown(following)}")
                    url = following
            raise SourceNotReady(f"{shown(url)}: more than {_MAX_REDIRECTS} redirects")
        except TimeoutError:
            raise SourceNotReady(f"{shown(url)}: no full answer in {self._options.timeout:g} s") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise SourceNotReady(f"{shown(url)}: {_said(error)}") from None

    def _check(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise SourceNotReady(f"{shown(url)} is no http or https URL")
        # aiohttp asks the resolver about names only.
        why = refusal(parts.hostname, allowed=self._options.allowed_networks)
        if why is not None and not self._options.allow_private_addresses:
            raise SourceNotReady(f"{shown(url)} is refused: {why} ({_TOLD})")


@lru_cache(maxsize=64)
def _context(ca: bytes | None) -> ssl.SSLContext:
    """Return a TLS context, made once: reading the system's certificates costs 20 ms."""
    context = ssl.create_default_context()
    if ca is not None:
        context.load_verify_locations(cadata=ca.decode("ascii"))
    return context


def check_url(url: str, *, field: str) -> None:
    """Refuse a URL of a Release that holds a password, or characters that no URL has; raises Unsupported."""
    if any(character <= " " or character == "\x7f" for character in url):
        raise Unsupported(f"{field} holds characters that no URL has")
    try:
        parts = urlsplit(url)
        has_login, has_host = parts.username is not None or parts.password is not None, bool(parts.hostname)
        _ = parts.port
    except ValueError:
        raise Unsupported(f"{field} is no valid URL") from None
    if has_login:
        raise Unsupported(f"{field} holds a user or a password: put them into the Secret of secretRef")
    if not has_host:
        raise Unsupported(f"{field} has no host")


def origin_of(url: str) -> tuple[str, str, int]:
    """Return scheme, host and port."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)


def shown(url: str) -> str:
    """Return a URL as messages have it: signed URLs hold credentials in their query."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}"


def _said(error: Exception) -> str:
    """Return what went wrong, without the URL that aiohttp repeats."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, AddressRefused):
            return f"{cause.strerror} ({_TOLD})"
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return f"the server's certificate is not trusted: {error.certificate_error}"
    if isinstance(error, aiohttp.ClientConnectorError):
        return f"cannot connect: {error.os_error.strerror or error.os_error}"
    return str(error).partition(", url=")[0] or type(error).__name__
