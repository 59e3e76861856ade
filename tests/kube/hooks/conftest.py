"""A Release with hooks, on the stack that all share."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from convoy.api.crd import generate_crds
from convoy.kube.client import KubeClient
from convoy.kube.connection import connect_kubeconfig
from convoy.kube.encode import apply_body
from convoy.kube.resources import CRDS
from deploy.stack.local import Stack
from tests.kube.hooks.rig import HookRig
from tests.waiting import until_served


@pytest.fixture(scope="package")
async def home(stack: Stack) -> AsyncIterator[KubeClient]:
    async with await connect_kubeconfig(stack.kubeconfig) as client:
        for crd in generate_crds():
            name = crd["metadata"]["name"]
            await client.apply(apply_body(crd), CRDS, None, name, manager="tests")
            await until_served(client, name)
        yield client


@pytest.fixture
async def rig(home: KubeClient) -> AsyncIterator[HookRig]:
    made = HookRig(home)
    await made.open()
    yield made
    await made.close()
