"""A real OCI registry (Debian's docker-registry) on loopback, a client that pushes, and a door that wants tokens."""

from __future__ import annotations

import asyncio
import hashlib
import json
import shutil
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

LOGIN = ("me", "pear-tree")
_HTPASSWD = "me:$2b$05$abcdefghijklmnopqrstuuWcRzNxOvz.42glWDeHhJUDF4BreD1dG\n"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_CONFIG = """
version: 0.1
log: {level: error, accesslog: {disabled: true}}
storage: {filesystem: {rootdirectory: %s}, delete: {enabled: true}}
http: {addr: "127.0.0.1:%d"}
"""


@dataclass(frozen=True)
class Layer:
    """What `oras push` makes of one file, and others of one archive."""

    data: bytes
    media_type: str
    annotations: dict[str, str] = field(default_factory=dict)

    def descriptor(self) -> dict[str, Any]:
        described = {"mediaType": self.media_type, "digest": digest_of(self.data), "size": len(self.data)}
        return described | ({"annotations": self.annotations} if self.annotations else {})


def digest_of(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


@dataclass
class PushRegistry:
    """A running registry."""

    host: str
    folder: Path
    login: tuple[str, str] | None = None

    async def push(self, repository: str, tag: str, layers: Sequence[Layer], **manifest: Any) -> str:
        """Push an artifact and return its digest."""
        config = Layer(b"{}", "application/vnd.oci.empty.v1+json")
        tree = {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": config.descriptor(),
            "layers": [layer.descriptor() for layer in layers],
        } | manifest
        if "manifests" in manifest:  # an index has neither
            del tree["config"], tree["layers"]
        body = json.dumps(tree).encode()
        auth = aiohttp.encode_basic_auth(*self.login) if self.login else None
        headers = {"Authorization": auth} if auth else {}
        async with aiohttp.ClientSession(f"http://{self.host}", headers=headers) as session:
            for layer in (config, *layers):
                async with session.post(f"/v2/{repository}/blobs/uploads/") as started:
                    started.raise_for_status()
                    place = started.headers["Location"]
                query = {"digest": digest_of(layer.data)}
                async with session.put(place, params=query, data=layer.data) as done:
                    done.raise_for_status()
            kind = {"Content-Type": str(tree["mediaType"])}
            async with session.put(f"/v2/{repository}/manifests/{tag}", data=body, headers=kind) as done:
                done.raise_for_status()
        return digest_of(body)

    def blob(self, digest: str) -> Path:
        """Return the file in which the registry keeps a blob."""
        name = digest.removeprefix("sha256:")
        return self.folder / "docker/registry/v2/blobs/sha256" / name[:2] / name / "data"


@asynccontextmanager
async def running_registry(folder: Path, *, with_login: bool = False) -> AsyncIterator[PushRegistry]:
    """Run a registry on a free port; skip the test where there is none."""
    program = shutil.which("docker-registry")
    if program is None:
        pytest.skip("no docker-registry in PATH (Debian: apt-get install docker-registry)")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config = folder / "config.yml"
    text = _CONFIG % (folder / "data", port)
    if with_login:
        (folder / "htpasswd").write_text(_HTPASSWD)
        text += f"auth: {{htpasswd: {{realm: convoy, path: {folder / 'htpasswd'}}}}}\n"
    config.write_text(text)
    with (folder / "registry.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(program, "serve", str(config), stdout=log, stderr=log)
    try:
        host = f"127.0.0.1:{port}"
        async with asyncio.timeout(30), aiohttp.ClientSession() as session:
            while True:
                assert process.returncode is None, (folder / "registry.log").read_text()
                try:
                    async with session.get(f"http://{host}/v2/"):
                        break
                except aiohttp.ClientConnectorError:
                    await asyncio.sleep(0.05)
        yield PushRegistry(host, folder / "data", LOGIN if with_login else None)
    finally:
        process.terminate()
        await process.wait()


@dataclass
class TokenDoor:
    """Stands before a registry: asks for a token, gives tokens to who has a login, and counts requests."""

    registry: PushRegistry
    anonymous: bool = False
    expires_in: int = 300
    requests: list[tuple[str, str, int]] = field(default_factory=list)
    tokens: int = 0
    host: str = ""

    @asynccontextmanager
    async def running(self) -> AsyncIterator[TokenDoor]:
        app = web.Application()
        app.router.add_get("/token", self._token)
        app.router.add_route("*", "/v2/{rest:.*}", self._pass_on)
        server = TestServer(app)
        await server.start_server()
        self.host = f"127.0.0.1:{server.port}"
        try:
            async with aiohttp.ClientSession(f"http://{self.registry.host}") as self._session:
                yield self
        finally:
            await server.close()

    async def _token(self, request: web.Request) -> web.Response:
        login = request.headers.get("Authorization")
        self.requests.append(("GET", request.path_qs, 200))
        if not self.anonymous and login != aiohttp.encode_basic_auth(*LOGIN):
            return web.Response(status=401)
        self.tokens += 1
        return web.json_response({"token": f"token-{self.tokens}", "expires_in": self.expires_in})

    async def _pass_on(self, request: web.Request) -> web.Response:
        if request.headers.get("Authorization") != f"Bearer token-{self.tokens}" or not self.tokens:
            self.requests.append((request.method, request.path_qs, 401))
            challenge = f'Bearer realm="http://{self.host}/token",service="convoy-test",scope="x"'
            return web.Response(status=401, headers={"WWW-Authenticate": challenge})
        headers = {"Accept": request.headers.get("Accept", "*/*")}
        async with self._session.request(request.method, request.path_qs, headers=headers) as answer:
            self.requests.append((request.method, request.path_qs, answer.status))
            kept = {
                name: answer.headers[name]
                for name in ("Content-Type", "Docker-Content-Digest", "Content-Length")
                if name in answer.headers
            }
            return web.Response(status=answer.status, body=await answer.read(), headers=kept)
