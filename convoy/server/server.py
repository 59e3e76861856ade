"""The HTTPS server: who asks, may he, what does he want, and an answer in every case.

The order is the security of it. The front proxy's certificate is checked before the path is even looked at; then the
path, then RBAC, and only then is anything read. aiohttp.web, since it shows the peer's certificate to the handler.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

import structlog
from aiohttp import web
from aiohttp.web import BaseRequest, Response

from convoy.api.errors import ConvoyError
from convoy.kube.errors import ApiError
from convoy.server import discovery, openapi
from convoy.server.authorize import Access, Authorizer
from convoy.server.call import Call, Services
from convoy.server.connections import Connections
from convoy.server.content import accepted, decode, encode
from convoy.server.front_proxy import User
from convoy.server.refusals import BadRequest, Broken, Refusal, TimedOut, Unauthorized, refusal_of
from convoy.server.routes import Route, route
from convoy.server.trust import Trust

DEADLINE: Final = 50.0
"""Seconds; kube-apiserver gives up after 60."""
_DRAIN: Final = 10.0
_HEALTH: Final = ("/healthz", "/livez", "/readyz")

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listen:
    """Where to listen, and how long a call may take."""

    host: str
    port: int
    deadline: float = DEADLINE


class Server:
    """Answers requests."""

    def __init__(
        self, services: Services, trust: Trust, authorizer: Authorizer, *, deadline: float = DEADLINE
    ) -> None:
        self._services = services
        self._trust = trust
        self._authorizer = authorizer
        self._deadline = deadline
        self._closing = False

    def close(self) -> None:
        """Say not ready from now on."""
        self._closing = True

    async def answer(self, request: BaseRequest) -> Response:
        """Answer one request, whatever it is."""
        if request.path in _HEALTH:
            return self._health(request)
        try:
            user = self._authenticate(request)
            document = self._document(request)
            if document is not None:
                return document
            return await self._subresource(request, user)
        except Refusal as refusal:
            return _refused(request, refusal)

    def _health(self, request: BaseRequest) -> Response:
        why = ""
        if request.path == "/readyz":
            why = "shutting down" if self._closing else self._trust.why_not
        return Response(status=503 if why else 200, text=why or "ok")

    def _authenticate(self, request: BaseRequest) -> User:
        proxy = self._trust.proxy
        if proxy is None:
            raise Unauthorized("it is not known yet who the front proxy is")
        transport = request.transport
        certificate = transport.get_extra_info("peercert") if transport is not None else None
        return proxy.authenticate(request.headers, certificate)

    def _document(self, request: BaseRequest) -> Response | None:
        """Answer discovery, which everybody may read whom kube-apiserver lets through."""
        if request.method != "GET":
            return None
        if request.path in (openapi.INDEX, openapi.PATH):
            body = openapi.index() if request.path == openapi.INDEX else openapi.spec()
            return Response(body=body, content_type="application/json")
        found = discovery.document(request.path, ",".join(request.headers.getall("Accept", ())))
        if found is None:
            return None
        headers = {"Content-Type": found.content_type, "Vary": "Accept"}
        if found.etag:
            headers["ETag"] = found.etag
            if request.headers.get("If-None-Match") == found.etag:
                return Response(status=304, headers=headers)
        return Response(body=found.body, headers=headers)

    async def _subresource(self, request: BaseRequest, user: User) -> Response:
        wanted = route(request.method, request.raw_path.partition("?")[0])
        began = time.monotonic()
        try:
            answer = await self._bounded(request, user, wanted)
        except Refusal as refusal:
            answer = _refused(request, refusal)
        if wanted.writes:
            _audit(request, user, wanted, answer.status, time.monotonic() - began)
        return answer

    async def _bounded(self, request: BaseRequest, user: User, wanted: Route) -> Response:
        access = wanted.access
        try:
            async with asyncio.timeout(self._deadline):
                return await self._call(request, user, wanted)
        except TimeoutError:
            raise TimedOut(
                f"releases/{access.subresource} took longer than {self._deadline:g} s; {_instead(access)}",
                name=access.name,
            ) from None
        except (ConvoyError, ApiError) as error:
            raise refusal_of(error, name=access.name) from error
        except Refusal:
            raise
        except Exception as error:  # noqa: BLE001 - every call is answered, and the text may hold anything
            _log.exception("request-failed", subresource=access.subresource, error=type(error).__name__)
            raise Broken("a fault of convoy's own; its log says more", name=access.name) from None

    async def _call(self, request: BaseRequest, user: User, wanted: Route) -> Response:
        access = wanted.access
        await self._authorizer.check(user, access)
        call = Call(
            services=self._services,
            user=user,
            namespace=access.namespace,
            name=access.name,
            query=request.query,
            body=await _body(request),
        )
        answer = await wanted.handler(call)
        media = accepted(request.headers)
        body = await asyncio.to_thread(encode, answer, media)
        return Response(status=201 if wanted.method == "POST" else 200, body=body, content_type=media)


@asynccontextmanager
async def serving(services: Services, trust: Trust, listen: Listen) -> AsyncIterator[int]:
    """Serve as long as the block lasts; gives the port. At the end, running calls get some seconds.

    Raises:
        OSError: the address cannot be listened on.
    """
    server = Server(services, trust, Authorizer(services.home), deadline=listen.deadline)
    connections = Connections(server.answer)
    runner = web.ServerRunner(connections.server, shutdown_timeout=_DRAIN)
    await runner.setup()
    trust.on_new_ca = connections.hang_up
    try:
        site = web.TCPSite(runner, listen.host, listen.port, ssl_context=trust.listening)
        await site.start()
        yield runner.addresses[0][1]
    finally:
        server.close()
        await runner.cleanup()


async def _body(request: BaseRequest) -> dict[str, object]:
    if request.method == "GET":
        return {}
    try:
        data = await request.read()
    except web.HTTPRequestEntityTooLarge:
        raise BadRequest("the body is larger than 1 MiB") from None
    return await asyncio.to_thread(decode, data, request.headers)


def _refused(request: BaseRequest, refusal: Refusal) -> Response:
    media = accepted(request.headers)
    return Response(
        status=refusal.code,
        body=encode(refusal.tree(), media),
        content_type=media,
        headers=dict(refusal.headers),
    )


def _audit(request: BaseRequest, user: User, wanted: Route, code: int, seconds: float) -> None:
    access = wanted.access
    _log.info(
        "audit",
        user=user.name,
        groups=list(user.groups),
        verb=access.verb,
        subresource=access.subresource,
        release=f"{access.namespace}/{access.name}",
        query=dict(request.query),
        code=code,
        audit_id=request.headers.get("Audit-ID", ""),
        seconds=round(seconds, 3),
    )


def _instead(access: Access) -> str:
    """Tell what to do where an answer takes too long."""
    if access.subresource == "check":
        return "the pass goes on, and the condition InSync and the Drift workflow tell what it finds"
    return (
        "ask a worker to compare instead, which takes its time: "
        f"POST releases/{access.name}/check (kubectl convoy release check {access.name})"
    )
