"""The server in this process, on a real API server, with a front proxy whose keys the test has."""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from convoy.kube.client import KubeClient
from convoy.kube.resources import CONFIG_MAPS, NAMESPACES
from convoy.kube.targets import Targets
from convoy.render.resolve import Renderer, RenderOptions
from convoy.server.call import Checked, Services
from convoy.server.names import API_VERSION
from convoy.server.refusals import Unavailable
from convoy.server.server import Listen, serving
from convoy.server.trust import ServingFiles, Trust
from convoy.sources.fetched import SourceOptions
from convoy.store.cache import Cache
from convoy.store.crypto import InstallationKey
from convoy.store.renders import Renders
from convoy.sync.desired import DesiredRenders
from convoy.sync.ownership import Ownership
from deploy.stack.certificates import Certificates, Pair, issue_serving, make_certificates

ADMIN = {"X-Remote-User": "root", "X-Remote-Group": "system:masters"}
CONFIG_MAP = "front-proxy"
WITHIN = 60.0


class NoWorkflows:
    """There is no Temporal here."""

    async def check(self, namespace: str, name: str, uid: str) -> Checked:
        raise Unavailable("Temporal does not answer", name=name)

    async def approve(self, namespace: str, name: str, *, hook: str, user: str) -> None:
        raise Unavailable("Temporal does not answer", name=name)


@dataclass(frozen=True, slots=True)
class Site:
    """A server, and the keys of everybody."""

    home: KubeClient
    namespace: str
    port: int
    trust: Trust
    keys: Certificates
    serving: Pair
    authority: Path

    async def request(
        self,
        method: str,
        path: str,
        *,
        client: Pair | None,
        headers: Mapping[str, str] | None = None,
        session: aiohttp.ClientSession | None = None,
    ) -> tuple[int, Any]:
        """Ask as whoever holds the certificate; return the code, and the tree or the text of the answer."""
        async with AsyncExitStack() as stack:
            if session is None:
                session = await stack.enter_async_context(self.session(client))
            answer = await stack.enter_async_context(
                session.request(method, f"https://localhost:{self.port}{path}", headers=headers)
            )
            text = await answer.text()
        return answer.status, json.loads(text) if text.startswith("{") else text

    def session(self, client: Pair | None) -> aiohttp.ClientSession:
        """Return a session whose connections show a certificate."""
        context = ssl.create_default_context(cafile=str(self.authority))
        if client is not None:
            context.load_cert_chain(client.certificate, client.key)
        return aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=context))

    async def sub(self, method: str, name: str, subresource: str, **headers: str) -> tuple[int, Any]:
        """Ask for a subresource through the front proxy."""
        path = f"/apis/{API_VERSION}/namespaces/{self.namespace}/releases/{name}/{subresource}"
        return await self.request(method, path, client=self.keys.front_proxy, headers=headers or ADMIN)

    async def publish(self, keys: Certificates, *, names: tuple[str, ...] = ("front-proxy-client",)) -> None:
        """Say who the front proxy is, and wait until the server knows."""
        ca = keys.front_proxy_ca.certificate.read_text()
        await self.home.patch(
            CONFIG_MAPS, self.namespace, CONFIG_MAP,
            {"data": {"requestheader-client-ca-file": ca, "requestheader-allowed-names": json.dumps(names)}},
        )  # fmt: skip
        await until(
            lambda: (
                self.trust.proxy is not None
                and (self.trust.proxy.ca, self.trust.proxy.allowed_names) == (ca, names)
            )
        )


async def until(done: Callable[[], bool]) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + WITHIN
    while not done():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.05)


@asynccontextmanager
async def running(
    home: KubeClient, namespace: str, folder: Path, *, deadline: float = 50.0
) -> AsyncIterator[Site]:
    """Run one replica; several in one namespace have one front proxy."""
    authority, pair = issue_serving(folder / "serving", "server", ["localhost"])
    keys = make_certificates(folder / "proxy")
    trust = Trust(
        home,
        ServingFiles(pair.certificate, pair.key),
        namespace=namespace,
        config_map=CONFIG_MAP,
        look_seconds=0.1,
    )
    async with services_of(home, folder / "work") as services, asyncio.TaskGroup() as group:
        watching = group.create_task(trust.run())
        try:
            async with serving(services, trust, Listen(host="localhost", port=0, deadline=deadline)) as port:
                yield Site(home, namespace, port, trust, keys, pair, authority)
        finally:
            watching.cancel()


async def make_config_map(home: KubeClient, namespace: str) -> None:
    """Make the ConfigMap of a front proxy that nobody is yet."""
    data = {
        "requestheader-username-headers": '["X-Remote-User"]',
        "requestheader-group-headers": '["X-Remote-Group"]',
        "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
    }
    metadata = {"name": CONFIG_MAP, "namespace": namespace}
    await home.create(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}, CONFIG_MAPS
    )


@asynccontextmanager
async def services_of(home: KubeClient, folder: Path) -> AsyncIterator[Services]:
    """Open what the server works with."""
    key = InstallationKey(b"0123456789abcdef0123456789abcdef")
    renders = Renders(None, Cache(folder / "renders"), key=key)
    options = RenderOptions(cache=folder / "sources", source=SourceOptions(allow_private_addresses=True))
    targets = Targets(home, allow_own_identity=True, allow_private=True)
    ownership = Ownership(home)
    watching = asyncio.create_task(ownership.run())
    try:
        await ownership.synced()
        yield Services(
            home=home,
            desired=DesiredRenders(
                home,
                targets=targets,
                renderer=Renderer(renders=renders, key=key, options=options),
                renders=renders,
                home_uid=(await home.get(NAMESPACES, None, "kube-system"))["metadata"]["uid"],
                own_namespace=None,
            ),
            renders=renders,
            key=key,
            ownership=ownership,
            workflows=NoWorkflows(),
        )
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        await targets.close()
