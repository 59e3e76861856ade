"""A proxy before a real API server that misbehaves as told: what networks and loaded servers do to a watch."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import aiohttp
from aiohttp import web

from convoy.kube.client import Endpoint, KubeClient

Fault = Callable[[web.Request], Awaitable[web.StreamResponse]]


class FaultyProxy:
    """Forwards to a server; each fault in `lists` and `watches` is used up by one request of that kind."""

    def __init__(self, server: KubeClient, session: aiohttp.ClientSession) -> None:
        self._server = server
        self._session = session
        self.client: KubeClient
        self.lists: list[Fault] = []
        self.watches: list[Fault] = []
        self.listed = 0
        self.watched = 0
        self.open: list[web.Request] = []
        """Watches that are being forwarded at the moment."""

    @classmethod
    @asynccontextmanager
    async def before(cls, server: KubeClient) -> AsyncIterator[FaultyProxy]:
        """Run a proxy before the server of `server`."""
        connector = aiohttp.TCPConnector(ssl=server.endpoint.ssl or True, limit=0)
        async with aiohttp.ClientSession(connector=connector) as session:
            proxy = cls(server, session)
            app = web.Application()
            app.router.add_route("*", "/{path:.*}", proxy._handle)
            runner = web.AppRunner(app, shutdown_timeout=0.1)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            endpoint = Endpoint(server=f"http://127.0.0.1:{runner.addresses[0][1]}")
            try:
                async with KubeClient(endpoint) as client:
                    proxy.client = client
                    yield proxy
            finally:
                await runner.cleanup()

    def reset_watches(self) -> None:
        """Break every open watch with a reset."""
        for request in list(self.open):
            if request.transport is not None:
                request.transport.abort()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        is_watch = "watch" in request.query
        if is_watch:
            self.watched += 1
        else:
            self.listed += 1
        faults = self.watches if is_watch else self.lists
        if faults:
            return await faults.pop(0)(request)
        headers = {"Accept": request.headers["Accept"]}
        authorization = await self._server.endpoint.authorization()
        if authorization:
            headers["Authorization"] = authorization
        url = self._server.endpoint.server + request.raw_path
        async with self._session.request(
            request.method, url, headers=headers, data=await request.read() or None
        ) as answer:
            response = web.StreamResponse(status=answer.status)
            response.headers["Content-Type"] = answer.headers["Content-Type"]
            await response.prepare(request)
            if is_watch:
                self.open.append(request)
            try:
                async for chunk in answer.content.iter_any():
                    await response.write(chunk)
            except ConnectionError:
                return response
            finally:
                self.open = [each for each in self.open if each is not request]
            return response


def status(code: int, reason: str, *, retry_after: int | None = None) -> Fault:
    """Answer with a Status."""

    async def fault(request: web.Request) -> web.StreamResponse:
        body = {"kind": "Status", "apiVersion": "v1", "code": code, "reason": reason, "message": reason}
        headers = {"Retry-After": str(retry_after)} if retry_after is not None else None
        return web.json_response(body, status=code, headers=headers)

    return fault


def events(*lines: bytes, then: str = "end") -> Fault:
    """Open a stream, send lines, and end it: cleanly, by `reset`, or not at all (`silence`)."""

    async def fault(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        response.content_type = "application/json"
        await response.prepare(request)
        for line in lines:
            await response.write(line)
        if then == "silence":
            await asyncio.sleep(3600)
        if then == "reset" and request.transport is not None:
            request.transport.abort()
        return response

    return fault


EXPIRED = (
    b'{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","code":410,"reason":"Expired",'
    b'"message":"too old resource version"}}\n'
)
