"""A web server on loopback that tells what it was asked: a folder of files with ETags, with a password if wanted."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web
from aiohttp.test_utils import TestServer


@dataclass
class Site:
    """Files by path."""

    files: dict[str, bytes] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    login: tuple[str, str] | None = None
    requests: list[tuple[str, int]] = field(default_factory=list)
    logins: list[str | None] = field(default_factory=list)
    """The Authorization header of each request."""
    url: str = ""

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Site]:
        app = web.Application()
        app.router.add_get("/{path:.*}", self._answer)
        server = TestServer(app)
        await server.start_server()
        self.url = str(server.make_url("")).rstrip("/")
        try:
            yield self
        finally:
            await server.close()

    async def _answer(self, request: web.Request) -> web.Response:
        response = self._respond(request)
        self.requests.append((request.path, response.status))
        self.logins.append(request.headers.get("Authorization"))
        return response

    def _respond(self, request: web.Request) -> web.Response:
        path = request.match_info["path"]
        if self.login is not None and request.headers.get("Authorization") != basic(*self.login):
            return web.Response(status=401)
        if path in self.redirects:
            return web.Response(status=302, headers={"Location": self.redirects[path]})
        if path not in self.files:
            return web.Response(status=404)
        etag = f'"{hashlib.sha256(self.files[path]).hexdigest()}"'
        if request.headers.get("If-None-Match") == etag:
            return web.Response(status=304)
        return web.Response(body=self.files[path], headers={"ETag": etag})


def basic(username: str, password: str) -> str:
    return f"Basic {base64.b64encode(f'{username}:{password}'.encode()).decode()}"
