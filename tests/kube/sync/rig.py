"""What the tests of the sync share: Releases on a real server, and the steps of a sync put together."""

from __future__ import annotations

import hashlib
import itertools
import json
import secrets
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from convoy.api.errors import DeployFailed, PruneFailed, Unappliable
from convoy.api.names import API_VERSION, SYNC_WAVE
from convoy.api.objects import Manifest, ObjectKey, key_of, split_api_version
from convoy.api.release import Release
from convoy.api.rendered import Render, RenderedObject
from convoy.kube.client import KubeClient
from convoy.kube.errors import KindUnknown, NotFound
from convoy.kube.resources import CLUSTERS, CRDS, INVENTORIES, NAMESPACES, RELEASES, SECRETS, Resource
from convoy.kube.targets import Target
from convoy.sync.apply import Applied, apply_wave, entries_of
from convoy.sync.claim import Prove, claim, hold, let_go
from convoy.sync.crd_check import RenderedCrds
from convoy.sync.doubt import settle_doubts
from convoy.sync.dryrun import dry_run
from convoy.sync.exact import write_exact
from convoy.sync.inventory import Entry, Record
from convoy.sync.ledger import Ledger
from convoy.sync.ownership import Ownership
from convoy.sync.prune import Pruned, prune
from tests.waiting import eventually

_epochs = itertools.count(1)


def epoch() -> str:
    """Return an epoch that no other attempt has."""
    return f"run/{next(_epochs)}"


@dataclass
class Outcome:
    """What one sync did."""

    applied: list[Applied] = field(default_factory=list)
    pruned: Pruned = field(default_factory=Pruned)


@dataclass
class Rig:
    """A namespace for Releases and one for their objects, with everything that a sync needs."""

    home: KubeClient
    target: Target
    ownership: Ownership
    namespace: str = field(default_factory=lambda: f"sync-{secrets.token_hex(5)}")
    crds: list[str] = field(default_factory=list)

    @property
    def id(self) -> str:
        """A text that is new for this test, for cluster-scoped names."""
        return self.namespace.replace("sync-", "t")

    async def open(self) -> None:
        await self.home.create(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}}, NAMESPACES
        )

    async def close(self) -> None:
        for resource in (RELEASES, INVENTORIES, CLUSTERS, SECRETS):
            for tree in await self.home.list(resource, self.namespace):
                if tree["metadata"].get("finalizers"):
                    await self.home.patch(
                        resource, self.namespace, tree["metadata"]["name"], {"metadata": {"finalizers": None}}
                    )
        await self.home.delete(NAMESPACES, None, self.namespace)
        for name in self.crds:
            try:
                await self.home.delete(CRDS, None, name)
            except NotFound:
                continue

    async def release(self, name: str = "a", **sync_policy: Any) -> Release:
        tree = await self.home.create(
            {
                "apiVersion": API_VERSION,
                "kind": "Release",
                "metadata": {"name": name, "namespace": self.namespace},
                "spec": {
                    "clusterRef": {"name": "target"},
                    "source": {"inline": {"files": {}}},
                    "content": {"manifests": {}},
                    "syncPolicy": sync_policy,
                },
            },
            RELEASES,
        )
        return Release.model_validate(tree)

    async def reread(self, release: Release) -> Release:
        return Release.model_validate(await self.home.get(RELEASES, self.namespace, release.metadata.name))

    async def ledger(self, release: Release) -> Ledger:
        return await Ledger.open(self.home, release=release, target_uid=self.target.uid, epoch=epoch())

    async def record(self, release: Release) -> Record:
        tree = await self.home.get(INVENTORIES, self.namespace, release.metadata.name)
        return Record.from_tree(tree["spec"])

    async def names(self, release: Release) -> list[str]:
        """Return the names in the inventory, in its order."""
        return [entry.key.name for entry in (await self.record(release)).objects]

    async def sync(
        self,
        release: Release,
        render: Render,
        *,
        force: bool = False,
        pruning: bool = True,
        max_percent: int = 100,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Outcome:
        """Make one whole sync, as the steps of the reference page stand."""
        ledger = await self.ledger(release)
        wanted = wanted_of(render)
        try:
            return await self._steps(
                ledger,
                wanted,
                render,
                force=force,
                pruning=pruning,
                max_percent=max_percent,
                should_stop=should_stop,
            )
        except (Unappliable, DeployFailed, PruneFailed):
            await let_go(ledger)  # as the end of every pass does
            raise

    async def claim(self, ledger: Ledger, render: Render, *, force: bool = False) -> None:
        """Take the keys of a render, as the step before the dry run does."""
        await settle_doubts(self.target, ledger)
        await claim(ledger, wanted_of(render), self.ownership, prove=self.prove(render, force=force))

    async def hold(self, ledger: Ledger, render: Render) -> None:
        """Take again what a wait has given back, as the step of a wave does."""
        await hold(ledger, wanted_of(render), self.ownership, prove=self.prove(render))

    def prove(self, render: Render, *, force: bool = False) -> Prove:
        async def prove(keys: Collection[ObjectKey]) -> Collection[ObjectKey]:
            result = await dry_run(self.target, render, only=keys)
            if not force:
                result.raise_for_rejections()
            return result.accepted

        return prove

    async def _steps(
        self,
        ledger: Ledger,
        wanted: Sequence[Entry],
        render: Render,
        *,
        force: bool,
        pruning: bool,
        max_percent: int,
        should_stop: Callable[[], bool],
    ) -> Outcome:
        await self.claim(ledger, render, force=force)
        seen = None
        if not force:
            checked = await dry_run(self.target, render)
            checked.raise_for_rejections()
            seen = checked.seen
        outcome = Outcome()
        defined = RenderedCrds(render.objects).kinds
        for _, objects in render.waves():
            outcome.applied += await apply_wave(
                self.target, ledger, objects, seen=seen, defined=defined, should_stop=should_stop
            )
        if pruning:
            outcome.pruned = await prune(
                self.target,
                ledger,
                {entry.key for entry in wanted},
                self.ownership,
                max_percent=max_percent,
                forced=force,
            )
        await write_exact(ledger, wanted, render_ref=render.ref)
        return outcome

    def config_map(self, name: str = "box", *, wave: int = 0, **data: str) -> Manifest:
        metadata: dict[str, Any] = {"name": name, "namespace": self.namespace}
        if wave:
            metadata["annotations"] = {SYNC_WAVE: str(wave)}
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}

    @asynccontextmanager
    async def terminating_namespace(self) -> AsyncIterator[str]:
        """Yield a namespace that is being deleted until the test is over."""
        name = f"{self.namespace}-old"
        await self.home.create(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}, NAMESPACES
        )
        held = self.config_map("held")
        held["metadata"].update(namespace=name, finalizers=["example.org/hold"])
        await self.create(held)
        await self.home.delete(NAMESPACES, None, name)

        async def terminating() -> bool:
            return bool((await self.home.get(NAMESPACES, None, name))["status"]["phase"] == "Terminating")

        await eventually(terminating)
        yield name
        await self.home.patch(
            await self.resource(held), name, "held", {"metadata": {"finalizers": None}}, manager="tests"
        )

    @asynccontextmanager
    async def webhook_that_is_down(self) -> AsyncIterator[None]:
        """Have every create of a ConfigMap of the namespace fail, a moment from now on."""
        hook = {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": self.id},
            "webhooks": [
                {
                    "name": "down.example.org",
                    "admissionReviewVersions": ["v1"],
                    "sideEffects": "None",
                    "failurePolicy": "Fail",
                    "timeoutSeconds": 1,
                    "clientConfig": {"url": "https://127.0.0.1:9/down"},
                    "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": self.namespace}},
                    "rules": [
                        {
                            "apiGroups": [""],
                            "apiVersions": ["v1"],
                            "operations": ["CREATE"],
                            "resources": ["configmaps"],
                        }
                    ],
                }
            ],
        }
        await self.create(hook)
        try:
            yield
        finally:
            await self.delete(hook)

    def crd(self, kind: str, *, properties: Mapping[str, Any] | None = None, wave: int = 0) -> Manifest:
        """Return a CRD of a group of this test; its spec has `properties`."""
        plural = f"{kind.lower()}s"
        name = f"{plural}.{self.group}"
        self.crds.append(name)
        spec = {"type": "object", "properties": dict(properties or {})}
        return {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": name, **({"annotations": {SYNC_WAVE: str(wave)}} if wave else {})},
            "spec": {
                "group": self.group,
                "scope": "Namespaced",
                "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
                "versions": [
                    {
                        "name": "v1",
                        "served": True,
                        "storage": True,
                        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
                    }
                ],
            },
        }

    @property
    def group(self) -> str:
        return f"{self.id}.example.org"

    def custom(self, kind: str, name: str, *, wave: int = 0, **spec: Any) -> Manifest:
        return {
            "apiVersion": f"{self.group}/v1",
            "kind": kind,
            "metadata": {
                "name": name,
                "namespace": self.namespace,
                **({"annotations": {SYNC_WAVE: str(wave)}} if wave else {}),
            },
            "spec": spec,
        }

    async def resource(self, manifest: Manifest) -> Resource:
        group, version = split_api_version(manifest["apiVersion"])
        return await self.target.discovery.resource_for(group, manifest["kind"], version)

    async def unserved(self, manifest: Manifest) -> None:
        """Wait until the server no longer serves a manifest's version, whatever convoy remembers of it."""
        resource = await self.resource(manifest)

        async def unserved() -> bool:
            try:
                await self.home.list(resource, self.namespace)
            except KindUnknown:
                return True
            return False

        await eventually(unserved)

    async def get(self, manifest: Manifest) -> Manifest | None:
        key = key_of(manifest)
        try:
            return await self.home.get(await self.resource(manifest), key.namespace, key.name)
        except NotFound:
            return None

    async def create(self, manifest: Manifest, *, manager: str = "somebody") -> Manifest:
        return await self.home.create(manifest, await self.resource(manifest), manager=manager)

    async def delete(self, manifest: Manifest) -> None:
        key = key_of(manifest)
        await self.home.delete(await self.resource(manifest), key.namespace, key.name)

    async def annotate(self, manifest: Manifest, annotations: Mapping[str, str]) -> None:
        key = key_of(manifest)
        await self.home.patch(
            await self.resource(manifest),
            key.namespace,
            key.name,
            {"metadata": {"annotations": dict(annotations)}},
            manager="somebody",
        )

    async def uid(self, manifest: Manifest) -> str | None:
        live = await self.get(manifest)
        return live["metadata"]["uid"] if live is not None else None


def render_of(*manifests: Manifest) -> Render:
    """Return a render as the normaliser hands it on."""
    objects = tuple(
        RenderedObject(key_of(each), each["apiVersion"], _wave(each), each, "test.yaml") for each in manifests
    )
    digest = hashlib.sha256(json.dumps(manifests, sort_keys=True).encode()).hexdigest()
    return Render(f"sha256:{digest}", "test", objects)


def wanted_of(render: Render) -> tuple[Entry, ...]:
    """Return the entries of a render in apply order."""
    return entries_of([item for _, objects in render.waves() for item in objects])


def _wave(manifest: Manifest) -> int:
    return int((manifest["metadata"].get("annotations") or {}).get(SYNC_WAVE, 0))


def entries(*manifests: Manifest) -> tuple[Entry, ...]:
    return entries_of(render_of(*manifests).objects)


def key(kind: str, name: str, *, namespace: str = "", group: str = "") -> ObjectKey:
    return ObjectKey(group, kind, namespace, name)


def retarget(target: Target, client: KubeClient) -> Target:
    """Return the same target through another client."""
    return replace(target, client=client)
