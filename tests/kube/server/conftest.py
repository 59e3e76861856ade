"""The server on a real API server, with CRDs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from convoy.kube.client import KubeClient
from convoy.kube.connection import connect_kubeconfig
from deploy.stack.local import Stack
from tests.e2e.harness.convoy import install
from tests.kube.server.site import Site, make_config_map, running


@pytest.fixture
async def home(stack: Stack) -> AsyncIterator[KubeClient]:
    async with await connect_kubeconfig(stack.kubeconfig) as client:
        await install(client, "convoy-system")
        yield client


@pytest.fixture
async def site(home: KubeClient, namespace: str, tmp_path: Path) -> AsyncIterator[Site]:
    """A server that knows its front proxy."""
    await make_config_map(home, namespace)
    async with running(home, namespace, tmp_path) as running_site:
        await running_site.publish(running_site.keys)
        yield running_site
