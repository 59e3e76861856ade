"""A renderer whose home and target are the stack."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from convoy.api.objects import Manifest
from convoy.api.release import Release
from convoy.api.rendered import Render
from convoy.kube.client import KubeClient
from convoy.kube.connection import connect_kubeconfig
from convoy.kube.discovery import Discovery
from convoy.kube.resources import CONFIG_MAPS, SECRETS
from convoy.render.resolve import Renderer, RenderOptions
from convoy.sources.fetched import SourceOptions
from convoy.store.cache import Cache
from convoy.store.crypto import InstallationKey
from convoy.store.renders import Renders
from deploy.stack.local import Stack

Rendering = Callable[..., Awaitable[Render]]
Keep = Callable[[str, str, dict[str, str]], Awaitable[None]]


@pytest.fixture
async def home(stack: Stack) -> AsyncIterator[KubeClient]:
    async with await connect_kubeconfig(stack.kubeconfig) as client:
        yield client


@pytest.fixture
def keep(home: KubeClient, namespace: str) -> Keep:
    """Create a ConfigMap or a Secret in the test's namespace."""

    async def create(kind: str, name: str, texts: dict[str, str]) -> None:
        resource, field = (CONFIG_MAPS, "data") if kind == "ConfigMap" else (SECRETS, "stringData")
        metadata = {"name": name, "namespace": namespace}
        manifest: Manifest = {"apiVersion": "v1", "kind": kind, "metadata": metadata, field: texts}
        await home.create(manifest, resource)

    return create


@pytest.fixture
def rendering(home: KubeClient, namespace: str, tmp_path: Path, stack: Stack) -> Rendering:
    """Render files as a chart of a Release in the test's namespace."""
    key = InstallationKey(b"k" * 32)
    renders = Renders(None, Cache(tmp_path / "renders"), key=key)
    options = RenderOptions(
        cache=tmp_path / "sources",
        helm=str(stack.tool("helm")),
        source=SourceOptions(allow_private_addresses=True),
    )
    renderer = Renderer(renders=renders, key=key, options=options)

    async def run(files: dict[str, str], **helm: Any) -> Render:
        release = Release.read(
            {
                "metadata": {"name": "shop", "namespace": namespace, "uid": "1"},
                "spec": {
                    "clusterRef": {"name": "here"},
                    "source": {"inline": {"files": files}},
                    "content": {"helm": helm},
                },
            }
        )
        return await renderer.render(release, home=home, scope=Discovery(home))

    return run
