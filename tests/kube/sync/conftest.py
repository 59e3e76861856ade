"""One connection and one index of inventories for all tests of the sync, and a namespace a test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from convoy.api.crd import generate_crds
from convoy.kube.client import KubeClient
from convoy.kube.connection import connect_kubeconfig
from convoy.kube.discovery import Discovery
from convoy.kube.encode import apply_body
from convoy.kube.resources import CRDS, NAMESPACES
from convoy.kube.targets import Target
from convoy.sync.ownership import Ownership
from deploy.stack.local import Stack
from tests.kube.sync.rig import Rig
from tests.waiting import until_served


@pytest.fixture(scope="session")
async def home(stack: Stack) -> AsyncIterator[KubeClient]:
    async with await connect_kubeconfig(stack.kubeconfig) as client:
        for crd in generate_crds():
            name = crd["metadata"]["name"]
            await client.apply(apply_body(crd), CRDS, None, name, manager="tests")
            await until_served(client, name)
        yield client


@pytest.fixture(scope="session")
async def ownership(home: KubeClient) -> AsyncIterator[Ownership]:
    watched = Ownership(home)
    task = asyncio.ensure_future(watched.run())
    await watched.synced()
    yield watched
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.fixture(scope="session")
async def target(home: KubeClient) -> Target:
    uid = (await home.get(NAMESPACES, None, "kube-system"))["metadata"]["uid"]
    return Target(client=home, discovery=Discovery(home), uid=uid, name="target", version="v1.34.4")


@pytest.fixture
async def rig(home: KubeClient, target: Target, ownership: Ownership) -> AsyncIterator[Rig]:
    made = Rig(home, target, ownership)
    await made.open()
    yield made
    await made.close()
