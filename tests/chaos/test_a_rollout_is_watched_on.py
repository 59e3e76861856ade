"""Workers that die or stop while a rollout moves: somebody watches on, and the sync is asked for once."""

from __future__ import annotations

import pytest

from convoy.api.objects import Manifest
from convoy.kube.resources import CONFIG_MAPS
from tests.chaos.site import Site
from tests.e2e.harness.convoy import condition_of
from tests.e2e.tenant import Tenant, config_map


async def healthy(tenant: Tenant, reason: str) -> Manifest:
    return await tenant.until(
        "app", lambda tree: condition_of(tree, "Healthy").get("reason") == reason, f"Healthy {reason}"
    )


@pytest.mark.parametrize("signal", ["SIGKILL", "SIGTERM"])
async def test_what_becomes_healthy_while_no_worker_runs_is_seen_afterwards(
    site: Site, tenant: Tenant, signal: str
) -> None:
    first = await site.worker()
    await site.watcher()
    check = {
        "kind": "ConfigMap",
        "healthy": "has(object.metadata.labels) && has(object.metadata.labels.done)",
    }
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace)}, healthChecks=[check])
    await healthy(tenant, "Progressing")
    await tenant.applied("app")
    await (first.kill() if signal == "SIGKILL" else first.stop())
    await site.home.patch(
        CONFIG_MAPS, tenant.namespace, "a", {"metadata": {"labels": {"done": "yes"}}}, manager="somebody"
    )

    await site.worker()
    await healthy(tenant, "Healthy")
    tree = await tenant.until(
        "app", lambda tree: tree["status"]["lastAttempted"].get("trigger") == "HealthReached", "a sync"
    )
    asked = tree["metadata"]["annotations"]
    assert asked["convoy.kumodo.io/sync-health-requested-at"] == asked["convoy.kumodo.io/sync-requested-at"]
    assert len(await tenant.histories("app", "health")) == 1, "the same workflow"
