"""A Release whose second wave waits for a Deployment in the first one."""

from __future__ import annotations

from typing import Any

from convoy.api.objects import Manifest, ObjectKey
from tests.e2e.harness.convoy import Convoy
from tests.e2e.tenant import Tenant, config_map
from tests.e2e.workloads import READY_AT, deployment

GATE = [{"wave": 1, "strategy": "Health", "timeout": "10m"}]


def shop(
    namespace: str, *, ready: bool = True, version: str = "1", name: str = "mill", wave: int = 1
) -> dict[str, str]:
    """Return a Deployment in wave 0 and a ConfigMap in a later wave."""
    return {
        "mill.yaml": deployment(name, namespace, waits_for="" if ready else namespace),
        "flour.yaml": config_map("flour", namespace, wave=wave, version=version),
    }


async def stuck(tenant: Tenant, **spec: Any) -> Manifest:
    """Create a Release that waits at its gate; returns it as it waits."""
    await tenant.release("shop", shop(tenant.namespace, ready=False), syncWaves=GATE, **spec)
    return await tenant.applied("shop", "WaitingForWave")


async def make_ready(convoy: Convoy, tenant: Tenant) -> None:
    """Let a node take the pods that had none."""
    nodes = await convoy.objects.list("", "Node", namespace=None, selector=None)
    node = ObjectKey("", "Node", "", nodes[0]["metadata"]["name"])
    await convoy.objects.patch(
        node, {"metadata": {"labels": {READY_AT: tenant.namespace}}}, manager="kubectl-label"
    )


def waves_of(tree: Manifest) -> list[tuple[int, str, str]]:
    """Return number, strategy and phase of each wave."""
    return [(wave["wave"], wave["strategy"], wave["phase"]) for wave in tree["status"]["waves"]]
