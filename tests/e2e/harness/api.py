"""A running convoy whose aggregated API stands behind the stack's kube-apiserver, and calls of it as somebody."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import yaml

from convoy.api.objects import ObjectKey
from convoy.kube.client import Answer, KubeClient
from convoy.server.names import API_VERSION
from convoy.settings import Settings
from deploy.stack.aggregation import GROUP, SERVICE, VERSION, Aggregation, make_aggregation
from deploy.stack.local import Stack
from deploy.stack.ports import free_ports
from tests.e2e.harness.convoy import Convoy, running_convoy

AVAILABLE_WITHIN = 60.0
_API_SERVICE = ObjectKey("apiregistration.k8s.io", "APIService", "", f"{VERSION}.{GROUP}")


@asynccontextmanager
async def running_with_api(stack: Stack, folder: Path, **options: str) -> AsyncIterator[Convoy]:
    """Run convoy with its API, registered as long as the block lasts: one at a time on a stack.

    An APIService that nobody answers for would keep every namespace from being deleted, so it goes first.
    """
    namespace = options.get("namespace", str(Settings.model_fields["namespace"].default))
    api = make_aggregation(folder / "pki", namespace=namespace, port=free_ports(1)[0])
    async with running_convoy(stack, folder, **serving_options(api), **options) as convoy:
        for manifest in api.manifests():
            await convoy.objects.apply(manifest, manager="e2e")
        try:
            await _until_available(convoy)
            yield convoy
        finally:
            await convoy.objects.delete(_API_SERVICE)
            await convoy.objects.delete(ObjectKey("", "Service", namespace, SERVICE))


def serving_options(api: Aggregation) -> dict[str, str]:
    """Return the settings of a process that serves this API."""
    return {
        "api_address": f"127.0.0.1:{api.port}",
        "tls_cert_file": str(api.serving.certificate),
        "tls_key_file": str(api.serving.key),
    }


async def _until_available(convoy: Convoy) -> None:
    deadline = time.monotonic() + AVAILABLE_WITHIN
    conditions: Any = None
    while time.monotonic() < deadline:
        tree = await convoy.objects.get(_API_SERVICE)
        conditions = ((tree or {}).get("status") or {}).get("conditions") or []
        if any(each["type"] == "Available" and each["status"] == "True" for each in conditions):
            return
        convoy.process.require_running()
        await asyncio.sleep(0.2)
    raise AssertionError(f"the APIService is not available: {conditions}")


@dataclass(frozen=True, slots=True)
class Api:
    """Calls of the subresources of one Release through kube-apiserver."""

    home: KubeClient
    namespace: str
    name: str
    headers: Mapping[str, str] = field(default_factory=dict)

    def as_user(self, user: str) -> Api:
        """Return the same as another user, by impersonation: kube-apiserver then authorises him."""
        return Api(self.home, self.namespace, self.name, {"Impersonate-User": user})

    async def raw(
        self,
        method: str,
        subresource: str,
        body: Any = None,
        *,
        accept: str = "application/json",
        content_type: str = "application/json",
        **query: str,
    ) -> Answer:
        """Send a request; `body` is a tree, or bytes as they are."""
        path = f"/apis/{API_VERSION}/namespaces/{self.namespace}/releases/{self.name}/{subresource}"
        data = body if isinstance(body, bytes) or body is None else msgspec.json.encode(body)
        return await self.home.request(
            method,
            path,
            params=query,
            body=data,
            content_type=content_type if data is not None else None,
            accept=accept,
            headers=self.headers,
            timeout=70.0,
        )

    async def call(
        self, method: str, subresource: str, body: Any = None, *, code: int | None = None, **query: str
    ) -> Any:
        """Send a request and return the answer's tree; its code must be `code`, or say success."""
        answer = await self.raw(method, subresource, body, **query)
        tree = yaml.safe_load(answer.body)
        assert answer.status == code if code else answer.status < 300, tree
        return tree

    async def get(self, subresource: str, **query: str) -> Any:
        """Read a subresource."""
        return await self.call("GET", subresource, None, code=None, **query)
