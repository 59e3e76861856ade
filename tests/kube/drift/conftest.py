"""One connection for all tests of the compare, and a namespace a test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from convoy.kube.connection import connect_kubeconfig
from convoy.kube.discovery import Discovery
from tests.kube.drift.rig import Recording, Rig


@pytest.fixture(scope="session")
async def recording(stack: Any) -> AsyncIterator[tuple[Recording, Discovery]]:
    async with await connect_kubeconfig(stack.kubeconfig) as plain, Recording(plain.endpoint) as client:
        client.requests = []
        yield client, Discovery(client)


@pytest.fixture
async def rig(recording: tuple[Recording, Discovery]) -> AsyncIterator[Rig]:
    client, discovery = recording
    rig = Rig(client, discovery)
    await rig.open()
    client.requests.clear()
    yield rig
    await rig.close()
