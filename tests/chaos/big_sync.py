"""A Release whose second wave takes long enough to be interrupted, and what is known of it at any moment."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass

from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.client import WorkflowHandle
from temporalio.service import RPCError, RPCStatusCode

from convoy.api.objects import Manifest
from convoy.kube.errors import NotFound
from convoy.kube.resources import CONFIG_MAPS, INVENTORIES
from tests.e2e.tenant import Tenant, config_map
from tests.e2e.workloads import deployment

OBJECTS = 1500
WAVE = 1
STEP = f"apply-wave-{WAVE}"
_APPLIED = re.compile(
    r'^apiserver_request_total\{code="20[01]",component="apiserver",dry_run="",group="",'
    r'resource="configmaps",scope="resource",subresource="",verb="APPLY",version="v1"\} (\S+)$',
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class BigSync:
    """One Release in a tenant's namespace."""

    tenant: Tenant
    name: str = "big"

    async def create(self, *, value: str = "1", sick: bool = False) -> None:
        """Create the Release; where it is `sick`, its first wave has a Deployment that never becomes ready."""
        namespace, files = self.tenant.namespace, dict(self.files(value))
        if sick:
            files["mill.yaml"] = deployment("mill", namespace, waits_for=namespace)
        await self.tenant.release(self.name, files, policy={"retryBackoff": {"initial": "1s", "max": "2s"}})

    def files(self, value: str) -> Mapping[str, str]:
        namespace = self.tenant.namespace
        objects = [config_map(f"c-{number:04}", namespace, wave=WAVE, v=value) for number in range(OBJECTS)]
        return {"first.yaml": config_map("first", namespace, v=value), "second.yaml": "---\n".join(objects)}

    @property
    def workflow(self) -> WorkflowHandle[object, Manifest]:
        return self.tenant.client.get_workflow_handle(f"sync/{self.tenant.namespace}/{self.name}")

    async def in_the_middle(self) -> int:
        """Wait until the second wave has told how far it is; return how many objects the server knows of."""
        async with asyncio.timeout(180):
            while True:
                step = await self.step()
                if step is not None and (told := told_by(step)):
                    return told
                await asyncio.sleep(0.1)

    async def step(self) -> PendingActivityInfo | None:
        """Return the second wave's activity while it is pending."""
        try:
            description = await self.workflow.describe()
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            return None  # nobody has signalled yet
        pending = description.raw_description.pending_activities
        return next((each for each in pending if each.activity_id == STEP), None)

    async def recorded(self) -> list[str]:
        """Return the names that the inventory has as applied, in its order."""
        try:
            tree = await self.tenant.home.get(INVENTORIES, self.tenant.namespace, self.name)
        except NotFound:
            return []
        groups = tree["spec"].get("objects") or []
        return [item["name"] for group in groups for item in group["items"]]

    async def values(self) -> dict[str, str]:
        """Return what each ConfigMap on the cluster says."""
        found = await self.tenant.home.list(CONFIG_MAPS, self.tenant.namespace)
        return {each["metadata"]["name"]: each["data"]["v"] for each in found if "v" in each.get("data", {})}

    async def sent(self) -> int:
        """Return how many applies of ConfigMaps the API server has answered since it started, dry runs apart."""
        answer = await self.tenant.home.request("GET", "/metrics")
        return sum(int(float(count)) for count in _APPLIED.findall(answer.body.decode()))


def told_by(step: PendingActivityInfo) -> int:
    """Return how many objects an activity has reported with its heartbeats."""
    payloads = step.heartbeat_details.payloads
    return int(payloads[0].data) if payloads else 0


def expected(value: str) -> dict[str, str]:
    """Return what `BigSync.values` is once everything is applied."""
    return {"first": value} | {f"c-{number:04}": value for number in range(OBJECTS)}


def left_to_send(recorded: list[str], told: int) -> int:
    """Return how many objects another worker has to send: none that is recorded, before what was told."""
    done = set(recorded)
    names = [f"c-{number:04}" for number in range(OBJECTS)]
    start = next((at for at, name in enumerate(names[:told]) if name not in done), told)
    return OBJECTS - start
