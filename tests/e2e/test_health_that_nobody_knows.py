"""A render that was applied and cannot be looked at: it does not have the health of the one before it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from temporalio.testing import ActivityEnvironment

from activities.recording import Recording
from activities.services import Services
from convoy.kube.resources import INVENTORIES
from tests.e2e.harness.convoy import condition_of
from tests.e2e.tenant import Tenant, config_map
from workflows.contract import Outcome, Plan, RecordInput, ReleaseId

LOST = "sha256:" + "0" * 64


async def test_the_health_of_the_render_before_makes_nothing_ready(
    services: Services, tenant: Tenant
) -> None:
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace)})
    tree = await tenant.until("app", lambda tree: condition_of(tree, "Ready").get("status") == "True")
    sync = tree["status"]["sync"]
    plan = Plan(tree["metadata"]["uid"], render_ref=LOST, run_id=sync["runId"], generation=1)
    environment = ActivityEnvironment()
    environment.info = replace(
        environment.info,
        workflow_id=ReleaseId(tenant.namespace, "app").sync,
        heartbeat_timeout=timedelta(seconds=30),
    )

    applied = Outcome("Applied", "applied 1 object", applied=True, changed=True)
    await environment.run(Recording(services).record, RecordInput(plan, applied, attempted=True))

    tree = await tenant.get("app")
    assert condition_of(tree, "Applied")["status"] == "True"
    assert condition_of(tree, "Healthy")["status"] == "Unknown"
    assert "cannot be looked at yet: " in condition_of(tree, "Healthy")["message"]
    assert condition_of(tree, "Ready")["status"] != "True"
    health = (await tenant.home.get(INVENTORIES, tenant.namespace, "app"))["status"]["health"]
    assert (health["renderRef"], health["phase"]) == (LOST, "Unknown")
