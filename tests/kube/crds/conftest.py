"""The CRDs on the real API server, and a connection to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from convoy.api import cluster, inventory, release
from convoy.api.crd import generate_crds
from convoy.api.names import GROUP, VERSION
from convoy.kube.client import KubeClient
from convoy.kube.connection import connect_kubeconfig
from convoy.kube.encode import apply_body
from convoy.kube.resources import CRDS, Resource
from tests.waiting import until_served

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
            await until_served(client, name)
        yield client
