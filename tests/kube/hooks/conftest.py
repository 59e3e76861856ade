"""A Release with hooks, on the stack that all share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from convoy.api.crd import generate_crds
from convoy.kube.client import KubeClient
from convoy.kube.connection import connect_kubeconfig
from convoy.kube.encode import apply_body
from convoy.kube.errors import ApiError
from convoy.kube.resources import CRDS, RELEASES
from deploy.stack.local import Stack
from tests.kube.hooks.rig import HookRig


@pytest.fixture(scope="package")
async def home(stack: Stack) -> AsyncIterator[KubeClient]:
    async with await connect_kubeconfig(stack.kubeconfig) as client:
        for crd in generate_crds():
            await client.apply(apply_body(crd), CRDS, None, crd["metadata"]["name"], manager="tests")
        async with asyncio.timeout(30):
            while True:
                try:
                    await client.list(RELEASES)
                except ApiError:
                    await asyncio.sleep(0.1)
                else:
                    break
        yield client


@pytest.fixture
async def rig(home: KubeClient) -> AsyncIterator[HookRig]:
    made = HookRig(home)
    await made.open()
    yield made
    await made.close()
