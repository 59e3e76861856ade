"""What the tests of the compare share: a namespace of its own, and convoy's compare and apply on it."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from convoy.api.objects import Manifest, key_of, split_api_version
from convoy.api.rendered import RenderedObject
from convoy.drift.compare import compare_object
from convoy.drift.results import ObjectDrift
from convoy.kube.client import Answer, KubeClient
from convoy.kube.discovery import Discovery
from convoy.kube.resources import NAMESPACES, Resource
from convoy.sync.body import build

KEY = b"0123456789abcdef0123456789abcdef"


class Recording(KubeClient):
    """A client that notes each request."""

    requests: list[tuple[str, str, Mapping[str, str], bytes | None]]

    async def request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: bytes | None = None,
        content_type: str | None = None,
        accept: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> Answer:
        if path not in {"/api", "/apis"}:
            self.requests.append((method, path, dict(params or {}), body))
        return await super().request(
            method,
            path,
            params=params,
            body=body,
            content_type=content_type,
            accept=accept,
            headers=headers,
            timeout=timeout,
        )


@dataclass
class Rig:
    """A namespace on a real cluster, with what convoy does to it."""

    client: Recording
    discovery: Discovery
    namespace: str = field(default_factory=lambda: f"drift-{uuid.uuid4().hex[:10]}")

    @property
    def id(self) -> str:
        """A text that is new for this test, for cluster-scoped names."""
        return self.namespace.removeprefix("drift-")

    async def open(self) -> None:
        manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}}
        await self.client.create(manifest, NAMESPACES)

    async def close(self) -> None:
        await self.client.delete(NAMESPACES, None, self.namespace)

    async def resource(self, manifest: Manifest) -> Resource:
        group, version = split_api_version(manifest["apiVersion"])
        return await self.discovery.resource_for(group, manifest["kind"], version)

    async def apply(
        self, manifest: Manifest, *, ignored: Sequence[str] = (), live: Manifest | None = None
    ) -> Manifest:
        """Apply as the sync does."""
        key = key_of(manifest)
        body = build(manifest, live=live, ignored=ignored)
        return await self.client.apply(body, await self.resource(manifest), key.namespace, key.name)

    async def get(self, manifest: Manifest) -> Manifest:
        key = key_of(manifest)
        return await self.client.get(await self.resource(manifest), key.namespace, key.name)

    async def edit(
        self,
        manifest: Manifest,
        patch: Any,
        *,
        manager: str = "hand",
        kind: Literal["merge", "json"] = "merge",
        subresource: str | None = None,
    ) -> None:
        """Change a live object as somebody else."""
        key = key_of(manifest)
        resource = await self.resource(manifest)
        await self.client.patch(
            resource, key.namespace, key.name, patch, kind=kind, manager=manager, subresource=subresource
        )

    async def delete(self, manifest: Manifest) -> None:
        key = key_of(manifest)
        await self.client.delete(await self.resource(manifest), key.namespace, key.name)

    async def compare(self, manifest: Manifest, *, ignored: Sequence[str] = ()) -> ObjectDrift:
        return await compare_object(
            rendered(manifest), client=self.client, discovery=self.discovery, key=KEY, ignored=ignored
        )

    def config_map(self, name: str = "box", **data: str) -> Manifest:
        return {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": self.namespace},
            "data": data,
        }


def rendered(manifest: Manifest) -> RenderedObject:
    """Return a manifest as the normaliser hands it on."""
    return RenderedObject(key_of(manifest), manifest["apiVersion"], 0, manifest)


def pointers(found: ObjectDrift) -> list[str]:
    """The pointers of all changes."""
    return [change.pointer for change in found.changes]
