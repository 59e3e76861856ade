"""A platform and two applications on one Cluster, in order: each waits until the one before it works."""

from __future__ import annotations

from convoy.kube.resources import CRDS, NAMESPACES
from tests.e2e.gated import make_ready
from tests.e2e.harness.convoy import Convoy, condition_of
from tests.e2e.tenant import Tenant, applied_of
from tests.e2e.workloads import deployment

LATE = "fake.local/ready-after-3s:1"


def platform(group: str, namespace: str, *, waits_for: str) -> dict[str, str]:
    """A CRD, a namespace, and the operator that waits for a node."""
    crd = (
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
        f"metadata: {{name: boxes.{group}}}\nspec:\n  group: {group}\n  scope: Namespaced\n"
        "  names: {plural: boxes, kind: Box}\n  versions:\n  - name: v1\n    served: true\n    storage: true\n"
        "    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}\n"
    )
    return {
        "1-crd.yaml": crd,
        "2-namespace.yaml": f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: {namespace}}}\n",
        "3-operator.yaml": deployment("operator", namespace, waits_for=waits_for),
    }


def application(name: str, group: str, namespace: str) -> dict[str, str]:
    """A custom resource of the platform's kind in the platform's namespace, and Pods."""
    box = f"apiVersion: {group}/v1\nkind: Box\nmetadata: {{name: {name}, namespace: {namespace}}}\n"
    return {"box.yaml": box, "pods.yaml": deployment(name, namespace, LATE)}


async def test_a_platform_and_two_applications_come_up_in_order(convoy: Convoy, tenant: Tenant) -> None:
    group, namespace = f"{tenant.namespace}.example.org", f"{tenant.namespace}-platform"
    await tenant.release("platform", platform(group, namespace, waits_for=tenant.namespace))
    for wave, name in ((2, "second"), (1, "first")):
        await tenant.release(name, application(name, group, namespace), clusterWave=wave)
    tree = await tenant.until(
        "first", lambda tree: "Healthy is False" in applied_of(tree).get("message", ""), "a wait for health"
    )
    assert applied_of(tree)["reason"] == "WaitingForClusterWave"
    assert f"{tenant.namespace}/platform" in applied_of(tree)["message"]
    await make_ready(convoy, tenant)
    for name in ("platform", "first", "second"):
        await tenant.until(name, lambda tree: condition_of(tree, "Ready").get("status") == "True", "Ready")
    times = [await began_and_healthy(tenant, name) for name in ("platform", "first", "second")]
    flat = [time for pair in times for time in pair]
    assert flat == sorted(flat), "none began before the one before it was healthy"
    await tenant.home.delete(CRDS, None, f"boxes.{group}")
    await tenant.home.delete(NAMESPACES, None, namespace)


async def began_and_healthy(tenant: Tenant, name: str) -> tuple[str, str]:
    """When the first wave of a Release began, and since when it is healthy."""
    tree = await tenant.get(name)
    began: str = tree["status"]["waves"][0]["startedAt"]
    return began, condition_of(tree, "Healthy")["lastTransitionTime"]
