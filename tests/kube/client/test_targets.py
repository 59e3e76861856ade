"""Clusters become connections, and what is wrong with one is said with its name."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from convoy.api.cluster import Cluster
from convoy.api.errors import ClusterNotReady
from convoy.api.names import ACCEPT_TARGET
from convoy.kube.client import KubeClient
from convoy.kube.encode import apply_body
from convoy.kube.errors import Forbidden
from convoy.kube.resources import CONFIG_MAPS, NAMESPACES, SECRETS
from convoy.kube.targets import Targets
from deploy.stack.local import Stack
from tests.kube.client.conftest import serving
from tests.kube.client.test_connection import current, kubeconfig


@pytest.fixture
async def targets(home: KubeClient) -> AsyncIterator[Targets]:
    async with opened(home) as opened_targets:
        yield opened_targets


@asynccontextmanager
async def opened(home: KubeClient, **options: Any) -> AsyncIterator[Targets]:
    targets = Targets(home, **{"allow_private": True, "verify_seconds": 0.0, **options})
    try:
        yield targets
    finally:
        await targets.close()


def cluster(namespace: str, *, generation: int = 1, **fields: Any) -> Cluster:
    metadata = {"name": "prod", "namespace": namespace, "uid": "u", "generation": generation}
    metadata |= fields.pop("metadata", {})
    status = fields.pop("status", {})
    return Cluster.model_validate({"metadata": metadata, "spec": fields, "status": status})


def by_secret(namespace: str, **fields: Any) -> Cluster:
    return cluster(namespace, kubeconfigSecretRef={"name": "access", "key": "config"}, **fields)


async def put_secret(home: KubeClient, namespace: str, text: str) -> None:
    data = {"config": base64.b64encode(text.encode()).decode()}
    tree = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "access"}, "data": data}
    await home.apply(apply_body(tree), SECRETS, namespace, "access")


async def message(targets: Targets, wanted: Cluster) -> str:
    with pytest.raises(ClusterNotReady) as caught:
        await targets.get(wanted)
    assert f"Cluster {wanted.metadata.namespace}/prod" in caught.value.message
    return caught.value.message


async def test_a_secret_leads_to_its_cluster(
    home: KubeClient, targets: Targets, stack: Stack, namespace: str
) -> None:
    await put_secret(home, namespace, kubeconfig(*current(stack)))
    target = await targets.get(by_secret(namespace))
    assert target.uid == (await home.get(NAMESPACES, None, "kube-system"))["metadata"]["uid"]
    assert target.version.startswith("v1.")
    assert (await target.discovery.resource_for("apps", "Deployment")).plural == "deployments"
    assert await targets.get(by_secret(namespace)) is target


async def test_a_change_of_the_cluster_or_of_its_secret_connects_anew(
    home: KubeClient, targets: Targets, stack: Stack, namespace: str
) -> None:
    access, user = current(stack)
    await put_secret(home, namespace, kubeconfig(access, user))
    first = await targets.get(by_secret(namespace))
    await put_secret(home, namespace, kubeconfig({**access, "tls-server-name": "kubernetes"}, user))
    second = await targets.get(by_secret(namespace))
    third = await targets.get(by_secret(namespace, generation=2))
    assert len({id(target.client) for target in (first, second, third)}) == 3
    # Whoever began with the first connection may end with it.
    assert await first.client.get(NAMESPACES, None, "kube-system")


async def test_a_missing_secret_and_a_missing_key_are_named(
    home: KubeClient, targets: Targets, namespace: str
) -> None:
    said = await message(targets, by_secret(namespace))
    assert f"Secret {namespace}/access does not exist: create it with the key config" in said
    tree = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "access"}, "data": {"other": ""}}
    await home.apply(apply_body(tree), SECRETS, namespace, "access")
    assert f"Secret {namespace}/access has no key config" in await message(targets, by_secret(namespace))


async def test_credentials_that_are_not_accepted_are_named_and_not_shown(
    home: KubeClient, targets: Targets, stack: Stack, namespace: str
) -> None:
    access, _ = current(stack)
    await put_secret(home, namespace, kubeconfig(access, {"token": "pear-blossom"}))
    said = await message(targets, by_secret(namespace))
    assert f"the credentials of key config of Secret {namespace}/access are not accepted" in said
    assert "pear-blossom" not in said


async def test_a_plugin_is_refused(home: KubeClient, targets: Targets, stack: Stack, namespace: str) -> None:
    access, _ = current(stack)
    await put_secret(home, namespace, kubeconfig(access, {"exec": {"command": "sh"}}))
    assert "it would run code as convoy" in await message(targets, by_secret(namespace))


async def test_a_cluster_that_is_down_is_not_asked_by_each_of_its_releases(
    home: KubeClient, targets: Targets, namespace: str
) -> None:
    asked = 0

    async def handler(request: web.Request) -> web.StreamResponse:
        nonlocal asked
        asked += request.path != "/version"
        return web.Response(status=503)

    async with serving(handler) as url:
        await put_secret(home, namespace, kubeconfig({"server": url}, {"token": "x"}))
        for _ in range(5):
            assert "not reachable: HTTP 503" in await message(targets, by_secret(namespace))
    assert asked == 1


async def test_nobody_waits_while_a_cluster_that_is_down_is_asked_again(
    home: KubeClient, targets: Targets, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hole, arrived, let_go = False, asyncio.Event(), asyncio.Event()

    async def handler(request: web.Request) -> web.StreamResponse:
        if hole:
            arrived.set()
            await let_go.wait()
        return web.Response(status=503)

    monkeypatch.setattr("convoy.kube.targets.FAILURE_SECONDS", 0.0)
    async with serving(handler) as url, asyncio.timeout(60):
        await put_secret(home, namespace, kubeconfig({"server": url}, {"token": "x"}))
        await message(targets, by_secret(namespace))
        hole = True
        again = asyncio.create_task(message(targets, by_secret(namespace)))
        await arrived.wait()
        for _ in range(5):
            assert "not reachable: HTTP 503" in await message(targets, by_secret(namespace))
        let_go.set()
        await again


async def test_convoys_own_identity_is_lent_only_where_it_is_allowed(
    home: KubeClient, namespace: str
) -> None:
    async with opened(home) as targets:
        assert "--allow-own-identity" in await message(targets, cluster(namespace, inCluster={}))
    async with opened(home, allow_own_identity=True) as targets:
        target = await targets.get(cluster(namespace, inCluster={}))
        assert target.client is not home
        assert await target.client.list(CONFIG_MAPS, namespace)


async def test_a_service_account_acts_with_its_own_rights(
    home: KubeClient, targets: Targets, stack: Stack, namespace: str
) -> None:
    await put_secret(home, namespace, kubeconfig(*current(stack)))
    for wanted in (
        cluster(namespace, inCluster={}, serviceAccountName="deployer"),
        by_secret(namespace, serviceAccountName="deployer", generation=2),
    ):
        target = await targets.get(wanted)
        with pytest.raises(Forbidden, match=f"system:serviceaccount:{namespace}:deployer"):
            await target.client.list(CONFIG_MAPS, namespace)


async def test_another_cluster_under_the_same_name_needs_consent(
    home: KubeClient, targets: Targets, stack: Stack, namespace: str
) -> None:
    await put_secret(home, namespace, kubeconfig(*current(stack)))
    uid = (await targets.get(by_secret(namespace, status={"targetUID": None}))).uid
    said = await message(targets, by_secret(namespace, status={"targetUID": "other"}))
    assert f"{ACCEPT_TARGET}={uid}" in said
    consent = {"annotations": {ACCEPT_TARGET: uid}}
    assert await targets.get(by_secret(namespace, status={"targetUID": "other"}, metadata=consent))


async def test_limits_come_from_the_cluster(home: KubeClient, namespace: str) -> None:
    async with opened(home, allow_own_identity=True) as targets:
        limits: dict[str, Any] = {"connectTimeout": "1s", "requestTimeout": "2s", "maxInFlight": 3}
        target = await targets.get(cluster(namespace, inCluster={}, **limits))
    assert (target.client.limits.connect_timeout, target.client.limits.request_timeout) == (1, 2)
    assert target.client.limits.max_in_flight == 3
