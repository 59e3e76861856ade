"""A connection to the stack, which holds the Secrets and ConfigMaps that sources name."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from convoy.api.release import Release
from convoy.kube.client import KubeClient
from convoy.kube.connection import connect_kubeconfig
from convoy.kube.resources import CONFIG_MAPS, SECRETS
from convoy.sources.fetch import fetch
from convoy.sources.fetched import Fetched, SourceOptions
from deploy.stack.local import Stack
from tests.unit.sources.repository import Repository

Fetch = Callable[..., Awaitable[Fetched]]
Keep = Callable[..., Awaitable[None]]


@pytest.fixture
async def home(stack: Stack) -> AsyncIterator[KubeClient]:
    async with await connect_kubeconfig(stack.kubeconfig) as client:
        yield client


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "served" / "repository")


@pytest.fixture
def keep_secret(home: KubeClient, namespace: str) -> Keep:
    """Create a Secret in the test's namespace."""

    async def create(name: str, **values: str | bytes) -> None:
        data = {
            key.replace("__", "."): base64.b64encode(
                value if isinstance(value, bytes) else value.encode()
            ).decode()
            for key, value in values.items()
        }
        metadata = {"name": name, "namespace": namespace}
        await home.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data}, SECRETS)

    return create


@pytest.fixture
def keep_config_map(home: KubeClient, namespace: str) -> Keep:
    """Create a ConfigMap in the test's namespace."""

    async def create(name: str, **content: Mapping[str, str]) -> None:
        metadata = {"name": name, "namespace": namespace}
        manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, **content}
        await home.create(manifest, CONFIG_MAPS)

    return create


@pytest.fixture
def fetch_source(home: KubeClient, namespace: str, tmp_path: Path) -> Fetch:
    """Fetch a source of a Release in the test's namespace."""

    async def run(**source: Any) -> Fetched:
        release = Release.read(
            {
                "metadata": {"name": "shop", "namespace": namespace, "uid": "1"},
                "spec": {"clusterRef": {"name": "here"}, "source": source, "content": {"manifests": {}}},
            }
        )
        options = SourceOptions(allow_private_addresses=True)
        return await fetch(release, home=home, cache=tmp_path / "cache", options=options, key=b"k" * 32)

    return run
