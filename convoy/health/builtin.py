"""Which rule judges which built-in kind, and the rules of the kinds that run no Pods."""

from __future__ import annotations

from collections.abc import Callable

from convoy.api.objects import ObjectKey
from convoy.health.generic import unobserved
from convoy.health.phase import ObjectHealth, degraded, healthy, progressing
from convoy.health.trees import Tree, child, conditions, is_true, text, why
from convoy.health.workloads import daemon_set, deployment, pod, replica_set, stateful_set

Rule = Callable[[Tree], ObjectHealth]
Kind = tuple[str, str]
"""Group and kind."""


def job(tree: Tree) -> ObjectHealth:
    """Judge a Job: healthy when it is complete, and until then on its way (D26; kstatus calls a running one done)."""
    found = conditions(tree)
    if is_true(found.get("Complete")):
        return healthy()
    if is_true(found.get("Failed")):
        return degraded(why(found["Failed"]))
    if child(tree, "spec").get("suspend") is True:
        return healthy("is suspended")
    return progressing("is running" if child(tree, "status").get("startTime") else "has not started yet")


def claim(tree: Tree) -> ObjectHealth:
    """Judge a PersistentVolumeClaim whose class binds at once."""
    phase = text(child(tree, "status"), "phase")
    if phase == "Bound":
        return healthy()
    return degraded("has lost its volume") if phase == "Lost" else progressing("is not bound yet")


def late_claim(tree: Tree) -> ObjectHealth:
    """Judge a PersistentVolumeClaim whose class waits for the first Pod: unbound is as it should be (D26)."""
    found = claim(tree)
    return (
        found
        if text(child(tree, "status"), "phase") in ("Bound", "Lost")
        else healthy("binds with its first Pod")
    )


def volume(tree: Tree) -> ObjectHealth:
    """Judge a PersistentVolume."""
    status = child(tree, "status")
    match text(status, "phase"):
        case "Failed":
            return degraded(text(status, "message") or "has failed")
        case "Pending" | "":
            return progressing("is not available yet")
    return healthy()


def service(tree: Tree) -> ObjectHealth:
    """Judge a Service: a load balancer needs an address, unless its external addresses are given."""
    spec = child(tree, "spec")
    if text(spec, "type") != "LoadBalancer" or spec.get("externalIPs"):
        return healthy()
    if child(tree, "status", "loadBalancer").get("ingress"):
        return healthy()
    return progressing("has no load balancer address yet")


def custom_resource_definition(tree: Tree) -> ObjectHealth:
    """Judge a CustomResourceDefinition; one that was just created has `conditions: null`."""
    found = conditions(tree)
    names, established = found.get("NamesAccepted", {}), found.get("Established", {})
    if names.get("status") == "False":
        return degraded(why(names))
    if is_true(established):
        return healthy()
    if established.get("status") == "False" and text(established, "reason") != "Installing":
        return degraded(why(established))
    return progressing("is not established yet")


def api_service(tree: Tree) -> ObjectHealth:
    """Judge an APIService by whether the API server reaches what is behind it."""
    available = conditions(tree).get("Available", {})
    return healthy() if is_true(available) else progressing(why(available) or "is not available yet")


def autoscaler(tree: Tree) -> ObjectHealth:
    """Judge a HorizontalPodAutoscaler: it has to find what it scales. Whether there are metrics is no one's apply."""
    able = conditions(tree).get("AbleToScale", {})
    return progressing(why(able)) if able.get("status") == "False" else healthy()


def disruption_budget(tree: Tree) -> ObjectHealth:
    """Judge a PodDisruptionBudget: computed is all that it can be."""
    return unobserved(tree) or healthy()


RULES: dict[Kind, Rule] = {
    ("apps", "Deployment"): deployment,
    ("apps", "StatefulSet"): stateful_set,
    ("apps", "DaemonSet"): daemon_set,
    ("apps", "ReplicaSet"): replica_set,
    ("", "ReplicationController"): replica_set,
    ("", "Pod"): pod,
    ("", "PersistentVolumeClaim"): claim,
    ("", "PersistentVolume"): volume,
    ("", "Service"): service,
    ("batch", "Job"): job,
    ("policy", "PodDisruptionBudget"): disruption_budget,
    ("autoscaling", "HorizontalPodAutoscaler"): autoscaler,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): custom_resource_definition,
    ("apiregistration.k8s.io", "APIService"): api_service,
}

_ALWAYS_HEALTHY_GROUPS = frozenset(
    {
        "admissionregistration.k8s.io",
        "coordination.k8s.io",
        "discovery.k8s.io",
        "events.k8s.io",
        "networking.k8s.io",
        "node.k8s.io",
        "rbac.authorization.k8s.io",
        "scheduling.k8s.io",
        "storage.k8s.io",
    }
)
_ALWAYS_HEALTHY: frozenset[Kind] = frozenset(
    {
        *(
            ("", kind)
            for kind in (
                "ConfigMap", "Endpoints", "LimitRange", "Namespace", "PodTemplate", "ResourceQuota", "Secret",
                "ServiceAccount",
            )
        ),
        ("apps", "ControllerRevision"),
        ("batch", "CronJob"),
    }
)  # fmt: skip


def is_always_healthy(key: ObjectKey) -> bool:
    """Return whether objects of a kind are healthy as soon as they are applied: nobody needs to read them."""
    return key.group in _ALWAYS_HEALTHY_GROUPS or (key.group, key.kind) in _ALWAYS_HEALTHY
