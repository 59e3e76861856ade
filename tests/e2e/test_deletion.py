"""The end of a Release: `spec.syncPolicy.onDelete`, and a target that cannot be reached."""

from __future__ import annotations

import asyncio
import base64

import pytest
from temporalio.client import WorkflowExecutionStatus

from convoy.api.names import ABANDON
from convoy.kube.errors import NotFound
from convoy.kube.resources import CLUSTERS, INVENTORIES, JOBS, SECRETS
from tests.e2e.harness.convoy import Convoy
from tests.e2e.hooked import HANGS, hooked, job, jobs, runs
from tests.e2e.tenant import Tenant, applied_of, config_map


async def test_orphan_leaves_the_objects_and_takes_everything_of_convoys_own(tenant: Tenant) -> None:
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace)})
    await tenant.applied("app")
    await tenant.delete("app")
    await tenant.gone("app")
    assert await tenant.config_map("a") is not None
    with pytest.raises(NotFound):
        await tenant.home.get(INVENTORIES, tenant.namespace, "app")
    await ended(tenant, "app")


async def test_prune_deletes_the_objects_in_reverse_waves(tenant: Tenant) -> None:
    files = {
        "a.yaml": config_map("first", tenant.namespace, wave=0),
        "b.yaml": config_map("last", tenant.namespace, wave=1),
    }
    await tenant.release("app", files, policy={"onDelete": "Prune"})
    await tenant.applied("app")
    await tenant.delete("app")
    await tenant.gone("app")
    assert await tenant.config_map("first") is None
    assert await tenant.config_map("last") is None
    await ended(tenant, "app")


async def test_a_release_that_never_applied_anything_can_be_deleted(tenant: Tenant) -> None:
    await tenant.release(
        "app",
        {"a.yaml": "no: [yaml"},
        policy={"onDelete": "Prune", "retryBackoff": {"initial": "1h"}},
        cluster="nowhere",
    )
    await tenant.applied("app", "ClusterNotReady")
    await tenant.delete("app")
    await tenant.gone("app")


async def lose_target(tenant: Tenant, kubeconfig: str) -> None:
    """Have the Cluster `target` lead to where nobody answers."""
    server = next(line for line in kubeconfig.splitlines() if "server:" in line)
    gone = kubeconfig.replace(server, server.split("server:")[0] + "server: https://127.0.0.1:9")
    data = {"data": {"kubeconfig": base64.b64encode(gone.encode()).decode()}}
    await tenant.home.patch(SECRETS, tenant.namespace, "target", data)


async def test_an_unreachable_cluster_holds_the_deletion_until_it_is_abandoned(
    convoy: Convoy, tenant: Tenant
) -> None:
    kubeconfig = convoy.stack.kubeconfig.read_text()
    await tenant.create(SECRETS, "target", {"stringData": {"kubeconfig": kubeconfig}})
    await tenant.cluster("target", {"kubeconfigSecretRef": {"name": "target"}, "connectTimeout": "1s"})
    await tenant.release(
        "app",
        {"a.yaml": config_map("a", tenant.namespace)},
        policy={"onDelete": "Prune", "retryBackoff": {"initial": "1h"}},
        cluster="target",
    )
    await tenant.applied("app")

    await lose_target(tenant, kubeconfig)
    await tenant.delete("app")
    tree = await tenant.until(
        "app", lambda tree: applied_of(tree).get("reason") == "ClusterNotReady", "what it waits for"
    )
    assert ABANDON in applied_of(tree)["message"], "the message says the way out"
    assert (await tenant.home.get(CLUSTERS, tenant.namespace, "target"))["metadata"]["finalizers"]

    await tenant.patch("app", {"metadata": {"annotations": {ABANDON: "true"}}})
    await tenant.gone("app")
    assert await tenant.config_map("a") is not None
    for resource in (CLUSTERS, SECRETS):
        left = await tenant.home.get(resource, tenant.namespace, "target")
        assert "finalizers" not in left["metadata"]


async def test_a_hook_that_runs_on_an_unreachable_cluster_holds_the_deletion_until_it_is_abandoned(
    convoy: Convoy, tenant: Tenant
) -> None:
    kubeconfig = convoy.stack.kubeconfig.read_text()
    await tenant.create(SECRETS, "target", {"stringData": {"kubeconfig": kubeconfig}})
    await tenant.cluster("target", {"kubeconfigSecretRef": {"name": "target"}, "connectTimeout": "1s"})
    await hooked(tenant, job("migrate", HANGS), policy={"retryBackoff": {"initial": "1h"}}, cluster="target")
    await tenant.until("app", lambda tree: runs(tree).get("migrate") == ("Running", 1))

    await lose_target(tenant, kubeconfig)
    await tenant.delete("app")
    tree = await tenant.until(
        "app", lambda tree: "is being deleted" in applied_of(tree).get("message", ""), "what it waits for"
    )
    assert applied_of(tree)["reason"] == "ClusterNotReady"
    assert f"Job {tenant.namespace}/app-migrate-" in applied_of(tree)["message"]
    assert ABANDON in applied_of(tree)["message"], "the message says the way out"

    await tenant.patch("app", {"metadata": {"annotations": {ABANDON: "true"}}})
    await tenant.gone("app")
    for left in await jobs(tenant):  # nobody else takes the finalizer from it
        await tenant.home.patch(
            JOBS, tenant.namespace, left["metadata"]["name"], {"metadata": {"finalizers": None}}
        )


async def test_releases_of_one_cluster_that_are_deleted_together_all_let_it_go(tenant: Tenant) -> None:
    names = [f"app-{number}" for number in range(8)]
    for name in names:
        await tenant.release(name, {"a.yaml": config_map(name, tenant.namespace)})
    for name in names:
        await tenant.applied(name)
    assert (await tenant.home.get(CLUSTERS, tenant.namespace, "here"))["metadata"]["finalizers"]
    for name in names:
        await tenant.delete(name)
    for name in names:
        await tenant.gone(name)
    assert "finalizers" not in (await tenant.home.get(CLUSTERS, tenant.namespace, "here"))["metadata"]


async def test_a_release_made_again_under_the_same_name_starts_anew(tenant: Tenant) -> None:
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace)})
    await tenant.applied("app")
    await tenant.delete("app")
    await tenant.gone("app")
    await tenant.release("app", {"b.yaml": config_map("b", tenant.namespace)}, policy={"automatic": False})
    tree = await tenant.applied("app", "WaitingForSync")
    assert "lastSuccessful" not in tree["status"]
    await tenant.sync("app")
    tree = await tenant.applied("app")
    assert len(tree["status"]["history"]) == 1


async def test_a_whole_namespace_can_be_deleted(tenant: Tenant) -> None:
    outside = "out-" + tenant.namespace
    await tenant.make_namespace(outside)
    await tenant.release("app", {"a.yaml": config_map("a", outside)}, policy={"onDelete": "Prune"})
    await tenant.applied("app")
    await tenant.delete_namespace()
    await tenant.gone("app")
    assert await tenant.config_map("a", outside) is None, "the inventory outlived what it had to tell"


async def ended(tenant: Tenant, name: str) -> None:
    """Wait until the Release's Drift workflow has ended; it does so by itself."""
    handle = tenant.client.get_workflow_handle(f"drift/{tenant.namespace}/{name}")
    async with asyncio.timeout(60):
        while (await handle.describe()).status is WorkflowExecutionStatus.RUNNING:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    assert (await handle.describe()).status is WorkflowExecutionStatus.COMPLETED
