"""A tenant's kubeconfig neither runs code nor reads files, and nothing of it gets into a message."""

from __future__ import annotations

import base64
from typing import Any

import pytest
import yaml

from convoy.api.errors import ClusterNotReady
from convoy.kube.connection import connect_secret

TOKEN = "pear-blossom"


def kubeconfig(*, cluster: dict[str, Any] | None = None, user: dict[str, Any] | None = None) -> bytes:
    tree = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "it",
        "contexts": [{"name": "it", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://10.0.0.1:6443", **(cluster or {})}}],
        "users": [{"name": "u", "user": {"token": TOKEN, **(user or {})}}],
    }
    return yaml.safe_dump(tree).encode()


@pytest.mark.parametrize(
    ("cluster", "user", "named"),
    [
        ({}, {"exec": {"command": "sh"}}, "exec: it would run code"),
        ({}, {"auth-provider": {"name": "gcp"}}, "auth-provider: it would run code"),
        ({}, {"tokenFile": "/etc/shadow"}, "tokenFile: it would read a file"),
        ({}, {"client-key": "/etc/shadow"}, "client-key: it would read a file"),
        ({}, {"client-certificate": "/etc/shadow"}, "client-certificate: it would read a file"),
        ({"certificate-authority": "/etc/shadow"}, {}, "certificate-authority: it would read a file"),
        ({}, {"as": "admin"}, "not supported: as"),
        ({"server": "file:///etc/shadow"}, {}, "server of the kubeconfig must be a URL of https"),
        ({"server": "http://10.0.0.1"}, {}, "server of the kubeconfig must be a URL of https"),
        ({"server": "https://a:b@10.0.0.1"}, {}, "server of the kubeconfig must be a URL of https"),
        (
            {"server": "https://127.0.0.1:6443"},
            {},
            "server of the kubeconfig is refused: 127.0.0.1 is a loopback",
        ),
        ({"server": "https://[::1]:6443"}, {}, "loopback"),
        ({"server": "https://169.254.169.254"}, {}, "metadata"),
        ({"proxy-url": "http://127.0.0.1:3128"}, {}, "proxy-url of the kubeconfig is refused"),
        (
            {"certificate-authority-data": "###"},
            {},
            "certificate-authority-data of the kubeconfig is no base64",
        ),
        (
            {"certificate-authority-data": base64.b64encode(b"none").decode()},
            {},
            "the certificates of the kubeconfig cannot be used",
        ),
        ({}, {"token": "a\nX-Evil: 1"}, "token of the kubeconfig must be a text without"),
    ],
)
async def test_a_kubeconfig_is_refused(cluster: dict[str, Any], user: dict[str, Any], named: str) -> None:
    with pytest.raises(ClusterNotReady) as caught:
        await connect_secret(kubeconfig(cluster=cluster, user=user))
    assert named in caught.value.message
    assert TOKEN not in caught.value.message


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (f"users: [token: {TOKEN}", "no YAML"),
        ("- a", "no mapping"),
        ("{}", "no current-context"),
        ("current-context: it", "no context named 'it'"),
        ("current-context: it\ncontexts: [{name: it, context: {cluster: c}}]", "no cluster named 'c'"),
    ],
)
async def test_a_text_that_is_no_kubeconfig_is_refused(text: str, named: str) -> None:
    with pytest.raises(ClusterNotReady) as caught:
        await connect_secret(text.encode())
    assert named in caught.value.message
    assert TOKEN not in caught.value.message


async def test_a_plain_kubeconfig_is_taken_and_its_token_shown_nowhere() -> None:
    async with await connect_secret(kubeconfig()) as client:
        assert await client.endpoint.authorization() == f"Bearer {TOKEN}"
        assert TOKEN not in repr(client)
        assert TOKEN not in repr(client.endpoint)
