"""A way to the API server on which a test sees every write, keeps one of them waiting, and refuses others.

convoy reaches it by the kubeconfig of a Cluster, so nothing of convoy's own is in the way.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

from convoy.kube.client import KubeClient
from convoy.kube.resources import SECRETS
from tests.e2e.tenant import Tenant

_PASSED_ON = ("Content-Type", "Retry-After", "Audit-Id")


@dataclass(frozen=True, slots=True)
class Write:
    """A request that changed something; dry runs are none."""

    method: str
    name: str
    body: str


@dataclass(slots=True)
class SeenTarget:
    """What went through, and what shall not."""

    home: KubeClient
    url: str = ""
    writes: list[Write] = field(default_factory=list)
    refused: set[tuple[str, str]] = field(default_factory=set)
    """Method and name of what is answered with Forbidden."""
    held: str = ""
    """Name of the object whose next write arrives, while its answer waits."""
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    let_go: asyncio.Event = field(default_factory=asyncio.Event)

    def hold(self, name: str) -> None:
        self.held = name
        self.arrived.clear()
        self.let_go.clear()

    async def is_held(self) -> None:
        async with asyncio.timeout(60):
            await self.arrived.wait()

    def written(self, name: str) -> list[Write]:
        return [write for write in self.writes if write.name == name]

    async def answer(self, request: web.Request) -> web.Response:
        body = await request.read()
        name = request.path.rpartition("/")[2]
        if (request.method, name) in self.refused:
            status = {
                "kind": "Status",
                "status": "Failure",
                "reason": "Forbidden",
                "message": "not by a test",
            }
            return web.json_response(status | {"code": 403}, status=403)
        answer = await self.home.request(
            request.method,
            request.path,
            params=dict(request.query),
            body=body or None,
            content_type=request.headers.get("Content-Type"),
            accept=request.headers.get("Accept"),
        )
        if request.method not in ("GET", "HEAD") and "dryRun" not in request.query:
            self.writes.append(Write(request.method, name, body.decode()))
            if name == self.held:
                self.held = ""
                self.arrived.set()
                await self.let_go.wait()
        headers = {each: answer.headers[each] for each in _PASSED_ON if each in answer.headers}
        return web.Response(status=answer.status, body=answer.body, headers=headers)


@asynccontextmanager
async def seen_target(tenant: Tenant, name: str = "seen") -> AsyncIterator[SeenTarget]:
    """Serve the API server to convoy once more, as the Cluster `name` of a tenant."""
    seen = SeenTarget(tenant.home)
    app = web.Application(client_max_size=2**24)
    app.router.add_route("*", "/{path:.*}", seen.answer)
    runner = web.AppRunner(app, shutdown_timeout=1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        seen.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        await _cluster(tenant, name, seen.url)
        yield seen
    finally:
        seen.let_go.set()
        await runner.cleanup()


async def _cluster(tenant: Tenant, name: str, url: str) -> None:
    kubeconfig = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": url}}],
        "users": [{"name": name, "user": {"token": "none"}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
    }
    await tenant.create(SECRETS, name, {"stringData": {"kubeconfig": json.dumps(kubeconfig)}})
    await tenant.cluster(name, {"kubeconfigSecretRef": {"name": name}})
