"""D40: a Secret in convoy's namespace, made at first start, the same for everyone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from convoy.kube.client import KubeClient
from convoy.kube.connection import connect_kubeconfig
from convoy.kube.errors import ApiError
from convoy.kube.resources import SECRETS
from convoy.store.key import installation_key
from deploy.stack.local import Stack


@pytest.fixture
async def home(stack: Stack) -> AsyncIterator[KubeClient]:
    async with await connect_kubeconfig(stack.kubeconfig) as client:
        yield client


async def test_all_who_start_at_once_get_the_same_key(home: KubeClient, namespace: str) -> None:
    keys = await asyncio.gather(*(installation_key(home, namespace=namespace, name="key") for _ in range(20)))

    assert len({key.hmac for key in keys}) == 1
    assert keys[0].open(keys[1].seal(b"x", name="a"), name="a") == b"x"


async def test_it_stays_the_same(home: KubeClient, namespace: str) -> None:
    first = await installation_key(home, namespace=namespace, name="key")
    second = await installation_key(home, namespace=namespace, name="key")
    other = await installation_key(home, namespace=namespace, name="other")

    assert first.hmac == second.hmac != other.hmac


async def test_nobody_changes_it_by_accident(home: KubeClient, namespace: str) -> None:
    await installation_key(home, namespace=namespace, name="key")

    with pytest.raises(ApiError, match="immutable"):
        await home.patch(SECRETS, namespace, "key", {"data": {"key": "AAAA"}})


@pytest.mark.parametrize("data", [{}, {"key": "c2hvcnQ="}, {"other": "AAAA"}])
async def test_a_secret_without_a_key_stops_the_start(
    home: KubeClient, namespace: str, data: dict[str, str]
) -> None:
    metadata = {"name": "key", "namespace": namespace}
    await home.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data}, SECRETS)

    with pytest.raises(ValueError, match=rf"Secret {namespace}/key"):
        await installation_key(home, namespace=namespace, name="key")
