"""The CRDs on the real API server, and a connection to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from convoy.api import cluster, inventory, release
from convoy.api.crd import generate_crds
from convoy.api.names import GROUP, VERSION
from convoy.kube.client import KubeClient
from convoy.kube.connection import connect_kubeconfig
from convoy.kube.encode import apply_body
from convoy.kube.resources import Resource

CRDS = Resource("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", False)
RELEASES = Resource(GROUP, VERSION, release.KIND, release.PLURAL, True)
CLUSTERS = Resource(GROUP, VERSION, cluster.KIND, cluster.PLURAL, True)
INVENTORIES = Resource(GROUP, VERSION, inventory.KIND, inventory.PLURAL, True)


@pytest.fixture(scope="session")
async def server(stack: Any) -> AsyncIterator[KubeClient]:
    """A connection to a server that serves the generated CRDs."""
    async with await connect_kubeconfig(stack.kubeconfig) as client:
        for crd in generate_crds():
            name = crd["metadata"]["name"]
            await client.apply(apply_body(crd), CRDS, None, name, manager="tests")
            await _until_established(client, name)
        yield client


async def _until_established(client: KubeClient, name: str) -> None:
    async with asyncio.timeout(30):
        while True:
            if _established(await client.get(CRDS, None, name)):
                return
            await asyncio.sleep(0.1)


def _established(crd: dict[str, Any]) -> bool:
    conditions = crd.get("status", {}).get("conditions") or []
    return any(entry["type"] == "Established" and entry["status"] == "True" for entry in conditions)
