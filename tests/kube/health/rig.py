"""Real objects on a real cluster, and how convoy judges them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import yaml

from convoy.api.objects import Manifest, ObjectKey, key_of, split_api_version
from convoy.api.rendered import Render, RenderedObject
from convoy.health.assessment import Assessment
from convoy.health.checks import HealthChecks
from convoy.health.judge import NO_CHECKS
from convoy.health.look import look, open_assessment
from convoy.health.phase import ObjectHealth, Phase
from convoy.kube.client import KubeClient
from convoy.kube.discovery import Discovery
from convoy.kube.encode import apply_body
from convoy.kube.resources import Resource
from convoy.kube.targets import Target

PATIENCE = 90.0


@dataclass
class Rig:
    """One namespace of one cluster."""

    client: KubeClient
    discovery: Discovery
    namespace: str

    @property
    def target(self) -> Target:
        return Target(self.client, self.discovery, "uid", "here", "v1")

    async def resource(self, manifest: Manifest) -> Resource:
        group, version = split_api_version(manifest["apiVersion"])
        return await self.discovery.resource_for(group, manifest["kind"], version)

    async def apply(self, text: str) -> RenderedObject:
        """Apply a manifest in the rig's namespace, as it would stand in a render."""
        manifest: Manifest = yaml.safe_load(text)
        resource = await self.resource(manifest)
        if resource.namespaced:
            manifest["metadata"].setdefault("namespace", self.namespace)
        namespace = manifest["metadata"].get("namespace")
        await self.client.apply(apply_body(manifest), resource, namespace, manifest["metadata"]["name"])
        return RenderedObject(key_of(manifest), manifest["apiVersion"], 0, manifest)

    async def assess(self, *items: RenderedObject, checks: HealthChecks = NO_CHECKS) -> Assessment:
        """Look at objects once."""
        assessment = await open_assessment(self.target, Render("r", "main", items), checks=checks)
        await look(self.target, assessment, assessment.to_read())
        return assessment

    async def health(self, item: RenderedObject, *, checks: HealthChecks = NO_CHECKS) -> ObjectHealth:
        """Return what is said of one object."""
        health = (await self.assess(item, checks=checks)).health()
        return health.unhealthy[0].health if health.unhealthy else ObjectHealth(Phase.HEALTHY)

    async def until(
        self, item: RenderedObject, phase: str, says: str = "", *, checks: HealthChecks = NO_CHECKS
    ) -> list[str]:
        """Look at an object until it is in a phase; returns the phases that it went through."""
        seen: list[str] = []
        async with asyncio.timeout(PATIENCE):
            while True:
                found = await self.health(item, checks=checks)
                if not seen or seen[-1] != found.phase:
                    seen.append(found.phase.value)
                if found.phase == phase and says in found.message:
                    return seen
                await asyncio.sleep(0.1)

    async def delete(self, key: ObjectKey, resource: Resource) -> None:
        await self.client.delete(resource, key.namespace, key.name)
