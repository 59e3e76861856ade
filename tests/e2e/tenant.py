"""One tenant of a running convoy: a namespace with a Cluster, Releases in it, and what convoy did about them.

What convoy *did* is read from workflow histories and not from its logs: a pass is a scheduled `resolve`.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from temporalio.api.enums.v1 import EventType, WorkflowTaskFailedCause
from temporalio.client import Client, WorkflowHistory

from convoy.api.names import SYNC_REQUESTED_AT
from convoy.api.objects import Manifest
from convoy.kube.annotate import request_sync
from convoy.kube.client import KubeClient
from convoy.kube.errors import NotFound
from convoy.kube.resources import CLUSTERS, CONFIG_MAPS, NAMESPACES, RELEASES, Resource
from tests.e2e.harness.convoy import condition_of, told
from tests.waiting import eventually
from workflows.contract import ReleaseId

PATIENCE = 90.0
"""Seconds until a wait gives up: more than anything takes on a busy machine, less than the resync of an hour."""

_BY_DESIGN = (
    WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND,
    WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW,
    WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_FORCE_CLOSE_COMMAND,
)
_STALLED = "TMPRL1101"
"""What the SDK says where a task took two seconds."""


@dataclass(frozen=True, slots=True)
class Tenant:
    """A namespace of its own."""

    home: KubeClient
    client: Client
    namespace: str
    patience: float = PATIENCE

    # --- what a user does -----------------------------------------------------------------------

    async def cluster(self, name: str, spec: Mapping[str, Any]) -> None:
        await self.create(CLUSTERS, name, {"spec": dict(spec)})

    async def create(self, resource: Resource, name: str, content: Mapping[str, Any]) -> Manifest:
        return await self.home.create(
            {
                "apiVersion": resource.api_version,
                "kind": resource.kind,
                "metadata": {"name": name, "namespace": self.namespace},
                **content,
            },
            resource,
            manager="test",
        )

    async def release(
        self,
        name: str,
        files: Mapping[str, str] | None = None,
        *,
        policy: Mapping[str, Any] | None = None,
        cluster: str = "here",
        **spec: Any,
    ) -> Manifest:
        """Create a Release; with `files` from an inline source, in automatic mode unless the policy says."""
        source = {"source": {"inline": {"files": dict(files)}}} if files is not None else {}
        base = {"clusterRef": {"name": cluster}, "content": {"manifests": {}}}
        sync_policy = {"automatic": True, **(policy or {})}
        return await self.create(RELEASES, name, {"spec": base | source | {"syncPolicy": sync_policy} | spec})

    async def patch(self, name: str, patch: Mapping[str, Any]) -> Manifest:
        return await self.home.patch(RELEASES, self.namespace, name, patch, manager="test")

    async def files(self, name: str, files: Mapping[str, str | None]) -> Manifest:
        """Change files of an inline source; None removes one."""
        return await self.patch(name, {"spec": {"source": {"inline": {"files": dict(files)}}}})

    async def delete(self, name: str) -> None:
        await self.home.delete(RELEASES, self.namespace, name)

    async def make_namespace(self, name: str) -> None:
        await self.home.create(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}, NAMESPACES
        )

    async def delete_namespace(self) -> None:
        """Let it go, and do not wait until it is gone."""
        await self.home.delete(NAMESPACES, None, self.namespace)

    async def sync(self, name: str, *, force: bool = False) -> str:
        return await request_sync(self.home, self.namespace, name, now=datetime.now(UTC), force=force)

    # --- what there is to see -------------------------------------------------------------------

    async def get(self, name: str) -> Manifest:
        return await self.home.get(RELEASES, self.namespace, name)

    async def config_map(self, name: str, namespace: str | None = None) -> Manifest | None:
        try:
            return await self.home.get(CONFIG_MAPS, namespace or self.namespace, name)
        except NotFound:
            return None

    async def delete_config_map(self, name: str) -> None:
        await self.home.delete(CONFIG_MAPS, self.namespace, name)

    async def until_passes(self, name: str, count: int) -> None:
        """Wait until so many reconciles were started."""

        async def started() -> bool:
            return await self.passes(name) >= count

        await eventually(started, f"{name}: {count} passes", within=self.patience)

    async def until(self, name: str, done: Callable[[Manifest], bool], what: str = "") -> Manifest:
        """Return the Release as soon as `done` holds; fail with its conditions otherwise."""
        tree: Manifest = {}
        deadline = time.monotonic() + self.patience
        while time.monotonic() < deadline:
            tree = await self.get(name)
            if done(tree):
                return tree
            await asyncio.sleep(0.1)
        raise AssertionError(f"{name}: {what or 'the wait'} did not come about: {told(tree)}")

    async def applied(self, name: str, reason: str = "Applied") -> Manifest:
        """Return the Release once a pass that saw its present spec and annotations settled with `reason`."""
        return await self.until(
            name, lambda tree: is_settled(tree) and applied_of(tree).get("reason") == reason, reason
        )

    async def recorded(self, name: str) -> Manifest:
        """Return the Release once what it has applied is recorded, behind its postSync hooks."""
        await self.applied(name)
        return await self.until(
            name,
            lambda tree: "history" in tree["status"] and "unrecorded" not in tree["status"],
            "the record",
        )

    async def closed(self, name: str) -> None:
        """Wait until the latest run of the sync has closed, behind the result that it wrote."""
        async with asyncio.timeout(60):
            await self.client.get_workflow_handle(ReleaseId(self.namespace, name).sync).result()

    async def in_sync(self, name: str, reason: str = "InSync") -> Manifest:
        return await self.until(
            name, lambda tree: condition_of(tree, "InSync").get("reason") == reason, f"InSync {reason}"
        )

    async def gone(self, name: str) -> None:
        deadline = time.monotonic() + self.patience
        while time.monotonic() < deadline:
            try:
                tree = await self.get(name)
            except NotFound:
                return
            await asyncio.sleep(0.1)
        raise AssertionError(f"{name} is not gone: {tree['metadata'].get('finalizers')}; {told(tree)}")

    # --- what convoy did ------------------------------------------------------------------------

    async def histories(self, name: str, kind: str = "sync") -> list[WorkflowHistory]:
        """Return the histories of all runs of a workflow of a Release, oldest first."""
        query = f'WorkflowId = "{kind}/{self.namespace}/{name}"'
        runs = [run async for run in self.client.list_workflows(query)]
        return [
            await self.client.get_workflow_handle(run.id, run_id=run.run_id).fetch_history()
            for run in sorted(runs, key=lambda run: run.start_time)
        ]

    async def steps(self, name: str, kind: str = "sync") -> list[str]:
        """Return the activities that all runs of a workflow scheduled."""
        return [
            event.activity_task_scheduled_event_attributes.activity_type.name
            for history in await self.histories(name, kind)
            for event in history.events
            if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
        ]

    async def passes(self, name: str) -> int:
        """Return how many reconciles were started."""
        return (await self.steps(name)).count("resolve")


@asynccontextmanager
async def new_tenant(
    home: KubeClient, client: Client, *, patience: float = PATIENCE
) -> AsyncIterator[Tenant]:
    """Make a namespace with the Cluster `here`; deleted afterwards, without waiting until it is gone."""
    tenant = Tenant(home, client, f"t-{secrets.token_hex(5)}", patience)
    await tenant.make_namespace(tenant.namespace)
    await tenant.cluster("here", {"inCluster": {}})
    yield tenant
    with suppress(NotFound):
        await tenant.delete_namespace()


def applied_of(tree: Manifest) -> Mapping[str, str]:
    return condition_of(tree, "Applied")


def is_settled(tree: Manifest) -> bool:
    """Whether a pass has ended that saw the present spec and /sync request."""
    status, metadata = tree.get("status") or {}, tree["metadata"]
    asked = (metadata.get("annotations") or {}).get(SYNC_REQUESTED_AT)
    return (
        applied_of(tree).get("observedGeneration") == metadata["generation"]
        and status.get("handled", {}).get("syncRequestedAt") == asked
        and "settledAt" in status.get("sync", {})
    )


def failed_tasks(history: WorkflowHistory) -> list[str]:
    """Return the failures of workflow tasks: bugs in workflow code, which nobody would see otherwise.

    A signal that arrives while the workflow closes, and a reset or an end by hand, fail a task too, by design; and so
    does a machine that stands still for two seconds. (Code that does not yield fails all attempts, and so its test.)
    """
    return [
        event.workflow_task_failed_event_attributes.failure.message
        for event in history.events
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED
        and event.workflow_task_failed_event_attributes.cause not in _BY_DESIGN
        and _STALLED not in event.workflow_task_failed_event_attributes.failure.message
    ]


def config_map(name: str, namespace: str, *, wave: int | None = None, **data: str) -> str:
    """Return a ConfigMap as YAML."""
    annotations = f'\n  annotations: {{convoy.kumodo.io/sync-wave: "{wave}"}}' if wave is not None else ""
    lines = "".join(f"\n  {key}: {value!r}" for key, value in data.items())
    return (
        f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: {namespace}{annotations}\n"
        + (f"data:{lines}\n" if lines else "")
    )
