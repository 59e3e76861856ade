"""Connections to the stack's API server, and servers on loopback that misbehave."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from convoy.kube.client import Endpoint, KubeClient, Limits
from convoy.kube.connection import connect_kubeconfig
from convoy.kube.resources import CRDS, Resource
from deploy.stack.local import Stack
from tests.kube.client.proxy import FaultyProxy
from tests.waiting import until_served

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@pytest.fixture
async def home(stack: Stack) -> AsyncIterator[KubeClient]:
    """The API server as administrator."""
    async with await connect_kubeconfig(stack.kubeconfig) as client:
        yield client


@pytest.fixture
async def proxy(home: KubeClient) -> AsyncIterator[FaultyProxy]:
    """The same API server behind a proxy that can be told to misbehave."""
    async with FaultyProxy.before(home) as running:
        yield running


@pytest.fixture
async def custom(home: KubeClient) -> AsyncIterator[Resource]:
    """A kind of the test's own, with a free-form spec and status."""
    group = f"t{secrets.token_hex(4)}.example.org"
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"type": "object", "properties": {"spec": free, "status": free, "items": free}}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": schema},
    }
    name = f"foos.{group}"
    crd = {
        "apiVersion": CRDS.api_version,
        "kind": CRDS.kind,
        "metadata": {"name": name},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": "Foo", "plural": "foos", "singular": "foo"},
            "versions": [version],
        },
    }
    await home.create(crd, CRDS)
    await until_served(home, name)
    yield Resource(group, "v1", "Foo", "foos", True)
    await home.delete(CRDS, None, name)


@asynccontextmanager
async def serving(handler: Handler) -> AsyncIterator[str]:
    """Serve every path with one handler and yield the server's URL."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def client_of(handler: Handler, *, limits: Limits | None = None) -> AsyncIterator[KubeClient]:
    """Serve a handler and yield a client of it."""
    async with serving(handler) as url, KubeClient(Endpoint(server=url), limits=limits) as client:
        yield client
