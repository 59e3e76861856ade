"""Live objects of the test's cluster, by key: what other people than convoy do with them."""

from __future__ import annotations

import asyncio
import time
from typing import Any, Literal

from convoy.api.objects import DEFAULT_NAMESPACE, Manifest, ObjectKey, key_of, split_api_version
from convoy.kube.client import KubeClient
from convoy.kube.discovery import Discovery
from convoy.kube.encode import apply_body
from convoy.kube.errors import KindUnknown, NotFound
from convoy.kube.resources import CRDS, Resource
from tests.waiting import until_served

KIND_WITHIN = 30.0
"""Seconds until a kind that was just defined is in discovery."""


class Objects:
    """Reads and writes of anything, through one client."""

    def __init__(self, client: KubeClient) -> None:
        self._client = client
        self._discovery = Discovery(client)

    async def resource(
        self, group: str, kind: str, version: str | None = None, *, within: float = KIND_WITHIN
    ) -> Resource:
        """Return how the cluster serves a kind, which may just have been defined.

        Raises:
            KindUnknown: it is not served after so many seconds.
        """
        deadline = time.monotonic() + within
        if version is None:
            await self._discovery.refresh()  # the preferred version is that of this moment
        while True:
            try:
                return await self._discovery.resource_for(group, kind, version)
            except KindUnknown:
                if time.monotonic() >= deadline:
                    raise
            await asyncio.sleep(0.1)
            await self._discovery.refresh()

    async def get(self, key: ObjectKey, *, within: float = 0.0) -> Manifest | None:
        """Return the live object; None where there is none, or no such kind within so many seconds."""
        try:
            resource = await self.resource(key.group, key.kind, within=within)
            return await self._client.get(resource, _namespace(resource, key), key.name)
        except (KindUnknown, NotFound):
            return None

    async def list(
        self, group: str, kind: str, *, namespace: str | None, selector: str | None
    ) -> list[Manifest]:
        """Return all live objects of a kind."""
        resource = await self.resource(group, kind)
        return await self._client.list(resource, namespace, label_selector=selector)

    async def create(self, manifest: Manifest, *, manager: str) -> Manifest:
        """Create an object; a CRD is established and in discovery afterwards."""
        resource = await self._resource_of(manifest)
        made = await self._client.create(_placed(manifest, resource), resource, manager=manager)
        await self._until_served(made)
        return made

    async def apply(self, manifest: Manifest, *, manager: str) -> Manifest:
        """Apply an object by force; a CRD is established and in discovery afterwards."""
        resource = await self._resource_of(manifest)
        placed = _placed(manifest, resource)
        made = await self._client.apply(
            apply_body(placed), resource, placed["metadata"].get("namespace"), placed["metadata"]["name"],
            manager=manager,
        )  # fmt: skip
        await self._until_served(made)
        return made

    async def patch(
        self,
        key: ObjectKey,
        patch: Any,
        *,
        kind: Literal["merge", "json", "apply"] = "merge",
        manager: str,
        subresource: str | None = None,
    ) -> Manifest:
        """Patch a live object as somebody; `apply` is forced."""
        resource = await self.resource(key.group, key.kind)
        namespace = _namespace(resource, key)
        if kind != "apply":
            return await self._client.patch(
                resource, namespace, key.name, patch, kind=kind, manager=manager, subresource=subresource
            )
        identity = {"apiVersion": resource.api_version, "kind": resource.kind}
        metadata = {**patch.get("metadata", {}), "name": key.name}
        if namespace:
            metadata["namespace"] = namespace
        body = apply_body({**identity, **patch, "metadata": metadata})
        return await self._client.apply(
            body, resource, namespace, key.name, manager=manager, subresource=subresource
        )

    async def delete(self, key: ObjectKey) -> None:
        """Delete a live object in the background; nothing happens where there is none."""
        try:
            resource = await self.resource(key.group, key.kind, within=0)
            await self._client.delete(resource, _namespace(resource, key), key.name)
        except (KindUnknown, NotFound):
            return

    async def _resource_of(self, manifest: Manifest) -> Resource:
        group, version = split_api_version(manifest["apiVersion"])
        return await self.resource(group, manifest["kind"], version)

    async def _until_served(self, made: Manifest) -> None:
        key = key_of(made)
        if (key.group, key.kind) == (CRDS.group, CRDS.kind):
            await until_served(self._client, key.name, self._discovery)


def _namespace(resource: Resource, key: ObjectKey) -> str | None:
    return (key.namespace or DEFAULT_NAMESPACE) if resource.namespaced else None


def _placed(manifest: Manifest, resource: Resource) -> Manifest:
    metadata = dict(manifest["metadata"])
    if resource.namespaced:
        metadata.setdefault("namespace", DEFAULT_NAMESPACE)
    return {**manifest, "metadata": metadata}
