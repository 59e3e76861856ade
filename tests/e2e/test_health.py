"""Health as a user sees it: the condition, the inventory, and how little it costs (D26, issue 9)."""

from __future__ import annotations

import asyncio

from temporalio.client import WorkflowExecutionStatus
from temporalio.service import RPCError

from convoy.api.objects import Manifest
from convoy.kube.resources import INVENTORIES, Resource
from tests.e2e.gated import make_ready
from tests.e2e.harness.convoy import Convoy, condition_of
from tests.e2e.tenant import Tenant, config_map
from tests.e2e.workloads import NEVER_READY, READY, deployment, job
from tests.waiting import eventually
from workflows.contract import ReleaseId

DEPLOYMENTS = Resource("apps", "v1", "Deployment", "deployments", True)


async def healthy(tenant: Tenant, name: str, reason: str = "Healthy") -> Manifest:
    return await tenant.until(
        name, lambda tree: condition_of(tree, "Healthy").get("reason") == reason, f"Healthy {reason}"
    )


async def inventory_health(tenant: Tenant, name: str) -> Manifest:
    tree = await tenant.home.get(INVENTORIES, tenant.namespace, name)
    health: Manifest = (tree.get("status") or {}).get("health") or {}
    return health


async def health_is_open(tenant: Tenant, name: str) -> bool:
    handle = tenant.client.get_workflow_handle(ReleaseId(tenant.namespace, name).health)
    try:
        return (await handle.describe()).status is WorkflowExecutionStatus.RUNNING
    except RPCError:
        return False


async def closed(tenant: Tenant, name: str) -> None:
    await until_open(tenant, name, False)


async def watched(tenant: Tenant, name: str) -> None:
    await until_open(tenant, name, True)


async def until_open(tenant: Tenant, name: str, is_open: bool) -> None:
    async def so() -> bool:
        return await health_is_open(tenant, name) is is_open

    await eventually(so, f"a Health workflow with {is_open=}", within=tenant.patience)


async def test_a_render_without_anything_to_wait_for_is_healthy_with_its_sync(tenant: Tenant) -> None:
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace)})
    tree = await tenant.applied("app")
    assert condition_of(tree, "Healthy")["reason"] == "Healthy"
    assert condition_of(tree, "Ready")["status"] == "True"
    health = await inventory_health(tenant, "app")
    assert (health["phase"], health["renderRef"]) == (
        "Healthy",
        tree["status"]["lastSuccessful"]["renderRef"],
    )
    assert health["healthyAt"]
    assert await tenant.histories("app", "health") == []
    await asyncio.sleep(2)  # the watcher has seen all of it by then
    assert await tenant.passes("app") == 1


async def test_a_deployment_that_becomes_ready_moves_healthy_and_is_asked_for_once(
    convoy: Convoy, tenant: Tenant
) -> None:
    files = {"a.yaml": deployment("web", tenant.namespace, waits_for=tenant.namespace)}
    await tenant.release("app", files)
    tree = await tenant.applied("app")
    condition = condition_of(tree, "Healthy")
    assert (condition["status"], condition["reason"]) == ("False", "Progressing")
    assert f"Deployment.apps {tenant.namespace}/web: 0 of 1 replicas" in condition["message"]
    assert condition_of(tree, "Reconciling")["status"] == "True"
    assert (await inventory_health(tenant, "app"))["phase"] == "Progressing"
    await make_ready(convoy, tenant)
    tree = await healthy(tenant, "app")
    assert condition_of(tree, "Healthy")["message"] == "1 object healthy"
    tree = await tenant.until(
        "app", lambda tree: tree["status"]["lastAttempted"].get("trigger") == "HealthReached", "a sync"
    )
    tree = await tenant.applied("app")
    assert condition_of(tree, "Ready")["status"] == "True"
    health = await inventory_health(tenant, "app")
    assert (health["phase"], health["unhealthy"]) == ("Healthy", [])
    await closed(tenant, "app")
    assert (await tenant.steps("app", "health")) == ["observe-health"]
    await asyncio.sleep(2)
    assert await tenant.passes("app") <= 3


async def test_what_fails_is_named_and_ends_the_watch(tenant: Tenant) -> None:
    await tenant.release("app", {"a.yaml": job("migrate", tenant.namespace, "fake.local/job-fails:1")})
    tree = await healthy(tenant, "app", "Degraded")
    assert f"Job.batch {tenant.namespace}/migrate" in condition_of(tree, "Healthy")["message"]
    tree = await tenant.until(
        "app", lambda tree: condition_of(tree, "Stalled").get("status") == "True", "Stalled"
    )
    assert condition_of(tree, "Ready")["reason"] == "Degraded"
    (found,) = (await inventory_health(tenant, "app"))["unhealthy"]
    assert (found["ref"], found["phase"]) == (f"Job.batch {tenant.namespace}/migrate", "Degraded")
    await closed(tenant, "app")


async def test_a_deployment_that_breaks_later_is_found_by_a_drift_pass(
    convoy: Convoy, tenant: Tenant
) -> None:
    files = {"a.yaml": deployment("web", tenant.namespace)}
    await tenant.release("app", files, policy={"automatic": False})
    await tenant.sync("app")
    await healthy(tenant, "app")
    await closed(tenant, "app")
    before = requests(await tenant.applied("app"))

    await edit_image(tenant, NEVER_READY)
    await convoy.check(ReleaseId(tenant.namespace, "app"))
    tree = await healthy(tenant, "app", "Progressing")
    assert condition_of(tree, "Ready")["status"] == "False"
    await edit_image(tenant, READY)
    tree = await healthy(tenant, "app")
    await closed(tenant, "app")
    assert requests(tree) == before, "a render that was healthy before is not asked for again"


async def test_a_drift_pass_over_a_healthy_release_writes_nothing_about_its_health(
    convoy: Convoy, tenant: Tenant
) -> None:
    await tenant.release("app", {"a.yaml": deployment("web", tenant.namespace)})
    await healthy(tenant, "app")
    await closed(tenant, "app")
    await tenant.in_sync("app")
    await tenant.applied("app")
    await convoy.check(ReleaseId(tenant.namespace, "app"))
    before = await versions(tenant, "app"), await tenant.passes("app")
    for _ in range(3):
        await convoy.check(ReleaseId(tenant.namespace, "app"))
    assert (await versions(tenant, "app"), await tenant.passes("app")) == before


async def versions(tenant: Tenant, name: str) -> tuple[str, str]:
    inventory = await tenant.home.get(INVENTORIES, tenant.namespace, name)
    return (await tenant.get(name))["metadata"]["resourceVersion"], inventory["metadata"]["resourceVersion"]


def requests(tree: Manifest) -> Manifest:
    annotations: Manifest = tree["metadata"]["annotations"]
    return {name: value for name, value in annotations.items() if "requested-at" in name}


async def edit_image(tenant: Tenant, image: str) -> None:
    """Change the image of `web` by hand, which no sync corrects in manual mode."""
    patch = [{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": image}]
    await tenant.home.patch(DEPLOYMENTS, tenant.namespace, "web", patch, kind="json", manager="kubectl-edit")


async def test_an_identity_that_may_not_watch_is_polled_with(convoy: Convoy, tenant: Tenant) -> None:
    rbac = "rbac.authorization.k8s.io"
    for kind, plural, manifest in (
        (
            "Role",
            "roles",
            {"rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "patch", "create"]}]},
        ),
        (
            "RoleBinding",
            "rolebindings",
            {
                "roleRef": {"apiGroup": rbac, "kind": "Role", "name": "deployer"},
                "subjects": [{"kind": "ServiceAccount", "name": "deployer", "namespace": tenant.namespace}],
            },
        ),
    ):
        await tenant.create(Resource(rbac, "v1", kind, plural, True), "deployer", manifest)
    await tenant.cluster("narrow", {"inCluster": {}, "serviceAccountName": "deployer"})
    files = {"a.yaml": deployment("web", tenant.namespace, waits_for=tenant.namespace)}
    await tenant.release("app", files, cluster="narrow")
    await healthy(tenant, "app", "Progressing")
    await make_ready(convoy, tenant)
    await healthy(tenant, "app")
    await closed(tenant, "app")


async def test_nobody_watches_for_a_release_that_is_gone(tenant: Tenant) -> None:
    await tenant.release("app", {"a.yaml": deployment("web", tenant.namespace, NEVER_READY)})
    await healthy(tenant, "app", "Progressing")
    await watched(tenant, "app")
    await tenant.delete("app")
    await tenant.gone("app")
    await closed(tenant, "app")


async def test_a_health_check_of_the_release_beats_the_built_in_rule(tenant: Tenant) -> None:
    check = {"kind": "ConfigMap", "healthy": "object.data.state == 'done'"}
    await tenant.release(
        "app", {"a.yaml": config_map("a", tenant.namespace, state="busy")}, healthChecks=[check]
    )
    tree = await healthy(tenant, "app", "Progressing")
    assert "its health check does not hold yet" in condition_of(tree, "Healthy")["message"]
    await tenant.files("app", {"a.yaml": config_map("a", tenant.namespace, state="done")})
    await healthy(tenant, "app")


async def test_a_bad_expression_is_unsupported_and_nothing_is_applied(tenant: Tenant) -> None:
    files = {"a.yaml": config_map("a", tenant.namespace)}
    await tenant.release("app", files, healthChecks=[{"kind": "X", "healthy": "object.status.ready =="}])
    tree = await tenant.applied("app", "Unsupported")
    assert "spec.healthChecks[0].healthy" in condition_of(tree, "Applied")["message"]
    assert await tenant.config_map("a") is None
