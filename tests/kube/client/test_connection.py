"""Connections as the operator's kubeconfig and a pod's service account say, and what they need of the package."""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
import stat
import threading
from pathlib import Path
from typing import Any

import pytest
import yaml

from convoy.api.errors import ClusterNotReady
from convoy.kube import connection
from convoy.kube.client import KubeClient
from convoy.kube.connection import (
    connect_home,
    connect_in_cluster,
    connect_kubeconfig,
    connect_secret,
    impersonating,
)
from convoy.kube.errors import Forbidden
from convoy.kube.resources import NAMESPACES, SECRETS
from deploy.stack.local import Stack


def current(stack: Stack) -> tuple[dict[str, Any], dict[str, Any]]:
    """The cluster and the user sections of the stack's kubeconfig."""
    tree = yaml.safe_load(stack.kubeconfig.read_text())
    return tree["clusters"][0]["cluster"], tree["users"][0]["user"]


def kubeconfig(cluster: dict[str, Any], user: dict[str, Any]) -> str:
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "it",
            "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
            "clusters": [{"name": "it", "cluster": cluster}],
            "users": [{"name": "it", "user": user}],
        }
    )


async def test_the_package_still_makes_the_ssl_context_and_knows_its_user(stack: Stack) -> None:
    from kubernetes.aio.client import Configuration
    from kubernetes.aio.client.rest import RESTClientObject
    from kubernetes.aio.config import load_kube_config

    configuration = Configuration()
    loader = await connection._untyped(load_kube_config)(
        str(stack.kubeconfig), client_configuration=configuration, persist_config=False
    )
    assert isinstance(RESTClientObject(configuration).ssl_context, ssl.SSLContext)
    assert hasattr(loader, "_user")
    assert hasattr(loader, "provider")
    assert connection._has_plugin(loader) is False


async def test_a_kubeconfig_by_path_and_by_variable(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    monkeypatch.setenv("KUBECONFIG", str(stack.kubeconfig))
    for connect in (connect_kubeconfig(stack.kubeconfig), connect_kubeconfig(), connect_home()):
        async with await connect as client:
            assert await client.get(NAMESPACES, None, "kube-system")


@pytest.mark.parametrize("text", [None, "", "- a", "current-context: x", ": {"])
async def test_a_kubeconfig_that_cannot_be_used_is_named(tmp_path: Path, text: str | None) -> None:
    file = tmp_path / "kubeconfig"
    if text is not None:
        file.write_text(text)
    with pytest.raises(ClusterNotReady, match=str(file)):
        await connect_kubeconfig(file)


async def test_the_token_of_a_plugin_is_fetched_again(
    stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster, _ = current(stack)
    calls = tmp_path / "calls"
    plugin = tmp_path / "plugin"
    plugin.write_text(
        f"#!/bin/sh\necho x >> {calls}\n"
        'printf \'{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",'
        '"status":{"token":"t%s","expirationTimestamp":"2000-01-01T00:00:00Z"}}\''
        f" $(wc -l < {calls})\n"
    )
    plugin.chmod(plugin.stat().st_mode | stat.S_IEXEC)
    file = tmp_path / "kubeconfig"
    command = {"apiVersion": "client.authentication.k8s.io/v1", "command": str(plugin)}
    file.write_text(kubeconfig(cluster, {"exec": command}))
    monkeypatch.setattr(connection, "_REFRESH_SECONDS", 0.01)
    async with await connect_kubeconfig(file) as client:
        async with asyncio.timeout(20):
            while True:
                if await client.endpoint.authorization() == "Bearer t3":
                    break
                await asyncio.sleep(0.01)


def hanging(stack: Stack, folder: Path, *, from_call: int) -> Path:
    """Write a kubeconfig whose plugin answers tokens at first, hangs at one call, and answers again after it."""
    cluster, _ = current(stack)
    calls, plugin, file = folder / "calls", folder / "plugin", folder / "kubeconfig"
    plugin.write_text(
        f"#!/bin/sh\necho x >> {calls}\nnumber=$(wc -l < {calls})\n"
        f'[ "$number" -eq {from_call} ] && exec sleep 60\n'
        'printf \'{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",'
        '"status":{"token":"t%s","expirationTimestamp":"2000-01-01T00:00:00Z"}}\' "$number"\n'
    )
    plugin.chmod(plugin.stat().st_mode | stat.S_IEXEC)
    command = {"apiVersion": "client.authentication.k8s.io/v1", "command": str(plugin)}
    file.write_text(kubeconfig(cluster, {"exec": command}))
    return file


async def test_a_plugin_that_never_answers_is_not_waited_for(
    stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "_PLUGIN_SECONDS", 0.2)
    async with asyncio.timeout(20):
        with pytest.raises(ClusterNotReady, match=r"its credential plugin gave no answer in 0\.2 s"):
            await connect_kubeconfig(hanging(stack, tmp_path, from_call=1))


async def test_a_token_is_fetched_again_after_a_plugin_that_hung(
    stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = hanging(stack, tmp_path, from_call=2)
    monkeypatch.setattr(connection, "_REFRESH_SECONDS", 0.01)
    monkeypatch.setattr(connection, "_PLUGIN_SECONDS", 2.0)
    async with asyncio.timeout(20), await connect_kubeconfig(file) as client:
        while True:
            if await client.endpoint.authorization() == "Bearer t3":
                break
            await asyncio.sleep(0.01)


async def test_a_tenants_kubeconfig_is_read_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    readers: list[threading.Thread] = []

    def read(kubeconfig: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
        readers.append(threading.current_thread())
        raise ClusterNotReady(f"{len(kubeconfig)} bytes")

    monkeypatch.setattr(connection, "read_kubeconfig", read)
    with pytest.raises(ClusterNotReady, match="3 bytes"):
        await connect_secret(b"a: ")
    assert readers != [threading.current_thread()]


async def test_a_pod_uses_its_service_account(
    stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kubernetes.aio.config import incluster_config

    cluster, _ = current(stack)
    token, authority = tmp_path / "token", tmp_path / "ca.crt"
    token.write_text("pear-blossom")
    authority.write_bytes(base64.b64decode(cluster["certificate-authority-data"]))
    host, _, port = cluster["server"].removeprefix("https://").rpartition(":")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", host)
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", port)
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(token))
    monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(authority))
    async with await connect_home() as client:
        assert client.endpoint.server == cluster["server"]
        assert (await client.endpoint.authorization() or "").lower() == "bearer pear-blossom"
        assert (await client.request("GET", "/readyz")).status == 401
    token.unlink()
    with pytest.raises(ClusterNotReady, match="token"):
        await connect_in_cluster()


async def test_a_tenants_kubeconfig_connects(stack: Stack) -> None:
    cluster, user = current(stack)
    text = kubeconfig(cluster, user).encode()
    async with await connect_secret(text, allow_private=True) as client:
        assert await client.get(NAMESPACES, None, "kube-system")
    with pytest.raises(ClusterNotReady, match="loopback"):
        await connect_secret(text)


async def test_a_name_that_leads_to_loopback_is_refused_when_the_connection_is_made(stack: Stack) -> None:
    cluster, user = current(stack)
    renamed = {**cluster, "server": cluster["server"].replace("127.0.0.1", "localhost")}
    async with await connect_secret(kubeconfig(renamed, user).encode()) as client:
        from convoy.kube.errors import Unreachable

        with pytest.raises(Unreachable, match="localhost is refused"):
            await client.get(NAMESPACES, None, "kube-system")


async def test_an_impersonated_account_has_its_own_rights(home: KubeClient, namespace: str) -> None:
    async with impersonating(home, f"system:serviceaccount:{namespace}:deployer") as client:
        with pytest.raises(Forbidden, match=f"system:serviceaccount:{namespace}:deployer"):
            await client.list(SECRETS, namespace)
        answer = await client.request(
            "POST",
            "/apis/authentication.k8s.io/v1/selfsubjectreviews",
            body=json.dumps({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}).encode(),
            content_type="application/json",
        )
    groups = json.loads(answer.body)["status"]["userInfo"]["groups"]
    assert f"system:serviceaccounts:{namespace}" in groups
