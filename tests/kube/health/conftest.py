"""One connection for all tests of health, and a namespace a test."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator

import pytest

from convoy.kube.connection import connect_kubeconfig
from convoy.kube.discovery import Discovery
from convoy.kube.resources import NAMESPACES
from deploy.stack.local import Stack
from tests.kube.health.rig import Rig


@pytest.fixture
async def rig(stack: Stack) -> AsyncIterator[Rig]:
    async with await connect_kubeconfig(stack.kubeconfig) as client:
        name = f"health-{secrets.token_hex(4)}"
        await client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}, NAMESPACES)
        yield Rig(client, Discovery(client), name)
        await client.delete(NAMESPACES, None, name)
