"""A running convoy, as a user sees it: Releases in, conditions and live objects out.

await convoy.open_namespace("team")
await convoy.create(release)
await convoy.sync(ReleaseId("team", "shop"))
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from convoy.api.crd import generate_crds
from convoy.api.errors import WaitingForHook
from convoy.api.names import API_VERSION, APPLIED
from convoy.api.objects import Manifest
from convoy.drift.results import ObjectDrift
from convoy.kube.annotate import request_sync
from convoy.kube.client import KubeClient
from convoy.kube.connection import connect_kubeconfig
from convoy.kube.resources import CLUSTERS, NAMESPACES, RELEASES, Resource
from convoy.settings import Settings
from convoy.store.cache import Cache
from convoy.store.key import installation_key
from convoy.store.renders import Renders
from convoy.store.store import RenderStore
from deploy.stack.local import Stack
from deploy.stack.ports import free_ports
from tests.e2e.harness.objects import Objects
from tests.e2e.harness.process import ConvoyProcess
from workers.temporal import connect
from workflows.contract import DriftReport, ReleaseId, UpdateName

MANAGER = "e2e"
POLL = 0.1


class TookTooLong(AssertionError):
    """Something did not come about in time; the message says what, and how the Release stands."""


@dataclass(frozen=True, slots=True)
class Convoy:
    """Worker and watcher at work on a stack, and everything to look at them with."""

    stack: Stack
    settings: Settings
    process: ConvoyProcess
    home: KubeClient
    objects: Objects
    temporal: Client
    folder: Path
    """For whatever a test serves to convoy as files."""

    async def open_namespace(self, name: str, *, cluster: str = "target") -> None:
        """Make a namespace for Releases, with a Cluster that is the stack's own API server."""
        await ensure_namespace(self.home, name)
        await self.home.create(
            {
                "apiVersion": API_VERSION,
                "kind": "Cluster",
                "metadata": {"name": cluster, "namespace": name},
                "spec": {"inCluster": {}},
            },
            CLUSTERS,
        )

    async def create(self, release: Manifest) -> ReleaseId:
        """Create a Release and wait until convoy has seen it."""
        made = await self.home.create(release, RELEASES, manager=MANAGER)
        identity = ReleaseId(made["metadata"]["namespace"], made["metadata"]["name"])
        await self.until_seen(identity)
        return identity

    async def read(self, release: ReleaseId, resource: Resource = RELEASES) -> Manifest:
        """Return a Release; or its inventory, which has its name."""
        return await self.home.get(resource, release.namespace, release.name)

    async def condition(self, release: ReleaseId, kind: str) -> Mapping[str, str]:
        """Return a condition of a Release; an empty mapping where it is not there."""
        return condition_of(await self.read(release), kind)

    async def until(
        self, release: ReleaseId, done: Callable[[Manifest], bool], *, what: str, timeout: float = 60
    ) -> Manifest:
        """Read a Release until something is true of it. Raises TookTooLong."""
        deadline = time.monotonic() + timeout
        while True:
            tree = await self.read(release)
            if done(tree):
                return tree
            self.process.require_running()
            if time.monotonic() > deadline:
                raise TookTooLong(
                    f"{what} did not come about within {timeout:g} s; Release {release}: {told(tree)}"
                )
            await asyncio.sleep(POLL)

    async def until_seen(self, release: ReleaseId, *, timeout: float = 60) -> Manifest:
        """Wait until convoy has reconciled the Release as it is now."""
        return await self.until(
            release,
            lambda tree: (
                (tree.get("status") or {}).get("observedGeneration", 0) >= tree["metadata"]["generation"]
            ),
            what="status.observedGeneration of the latest spec",
            timeout=timeout,
        )

    async def ask(self, release: ReleaseId, *, force: bool = False) -> str:
        """Request a sync and return the request's time."""
        return await request_sync(
            self.home, release.namespace, release.name, now=datetime.now(UTC), force=force
        )

    async def sync(self, release: ReleaseId, *, force: bool = False, timeout: float = 60) -> Manifest:
        """Request a sync and wait until the attempt that it caused has ended, whatever its result.

        A wait is a result too, but for one for a hook's Job, which only passes by.
        """
        requested = await self.ask(release, force=force)

        def settled(tree: Manifest) -> bool:
            sync = (tree.get("status") or {}).get("sync") or {}
            answered = bool(sync.get("settledAt")) and sync.get("requestedAt", "") >= requested
            return answered and condition_of(tree, APPLIED).get("reason") != WaitingForHook.reason

        return await self.until(
            release, settled, what=f"the end of the sync asked for at {requested}", timeout=timeout
        )

    async def check(self, release: ReleaseId, *, timeout: float = 60) -> DriftReport:
        """Make a drift pass now: the update `check` of the Drift workflow (D37). Raises TookTooLong."""
        try:
            async with asyncio.timeout(timeout):
                return await self._check(release)
        except TimeoutError:
            standing = told(await self.read(release))
            raise TookTooLong(
                f"the drift pass did not end within {timeout:g} s; Release {release}: {standing}"
            ) from None

    async def _check(self, release: ReleaseId) -> DriftReport:
        handle = self.temporal.get_workflow_handle(release.drift)
        while True:
            try:
                report: DriftReport = await handle.execute_update(
                    UpdateName.CHECK, result_type=DriftReport, id=secrets.token_hex(8)
                )
                return report
            except RPCError as error:
                if error.status is not RPCStatusCode.NOT_FOUND:
                    raise
            await asyncio.sleep(POLL)  # the watcher has not started it yet

    async def changes(self, report: DriftReport) -> dict[str, ObjectDrift]:
        """Return the stored findings of a pass by subject: the objects that are modified or missing."""
        if not report.changes:
            return {}
        settings = self.settings
        store = RenderStore.open(settings.render_store_url) if settings.render_store_url else None
        key = await installation_key(self.home, namespace=settings.namespace, name=settings.key_secret)
        renders = Renders(store, Cache(settings.work_folder / "renders"), key=key)
        data = await renders.load_blob(report.uid, report.changes)
        if data is None:
            raise AssertionError(f"the stored changes {report.changes!r} of Release {report.uid} are lost")
        found = map(ObjectDrift.from_tree, json.loads(data))
        return {str(each.key): each for each in found}


def condition_of(tree: Manifest, kind: str) -> Mapping[str, str]:
    """Return a condition of an object; an empty mapping where it is not there."""
    conditions = (tree.get("status") or {}).get("conditions") or []
    return next((each for each in conditions if each.get("type") == kind), {})


def told(tree: Manifest) -> str:
    """Tell the conditions of an object in one line."""
    conditions = (tree.get("status") or {}).get("conditions") or []
    return "; ".join(
        f"{each['type']}={each['status']} {each['reason']}: {each['message']}" for each in conditions
    )


async def ensure_namespace(home: KubeClient, name: str) -> None:
    """Make a namespace where there is none."""
    manifest = f'{{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"{name}"}}}}'
    await home.apply(manifest.encode(), NAMESPACES, None, name, manager=MANAGER)


async def install(home: KubeClient, namespace: str) -> Objects:
    """Do what an administrator does before the first start: the CRDs, and convoy's own namespace."""
    objects = Objects(home)
    for crd in generate_crds():
        await objects.apply(crd, manager=MANAGER)
    await ensure_namespace(home, namespace)
    return objects


def settings_of(stack: Stack, folder: Path, options: Mapping[str, str]) -> tuple[Settings, dict[str, str]]:
    """Return the settings of a convoy on a stack, and the environment that gives them to a process."""
    for tool in ("kustomize", "helm"):
        stack.tool(tool)
    values = {
        "kubeconfig": str(stack.kubeconfig),
        "temporal_address": stack.temporal_address,
        "task_queue": f"convoy-{secrets.token_hex(4)}",
        "tools": str(stack.tools),
        "work_dir": str(folder / "work"),
        "render_store_url": f"file://{folder / 'store'}",
        "allow_own_identity": "true",
        "allow_private_addresses": "true",
        "resync": "1h",  # what comes about in a test, an event has brought about
        **options,
    }
    environment = {f"CONVOY_{name.upper()}": value for name, value in values.items()}
    return Settings.model_validate(values), environment


@asynccontextmanager
async def running_convoy(stack: Stack, folder: Path, **options: str) -> AsyncIterator[Convoy]:
    """Run convoy on a stack as long as the block lasts; `options` are settings by name, as text."""
    metrics = {"metrics_address": f"127.0.0.1:{free_ports(1)[0]}"}
    settings, environment = settings_of(stack, folder, metrics | options)
    process = ConvoyProcess(environment, folder / "convoy.log")
    async with await connect_kubeconfig(stack.kubeconfig) as home:
        objects = await install(home, settings.namespace)
        await process.start()
        try:
            yield Convoy(stack, settings, process, home, objects, await connect(settings), folder)
        finally:
            await process.stop()
