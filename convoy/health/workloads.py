"""Health of what runs Pods: the rules of kstatus, with the differences that `docs/behaviour/health.md` lists."""

from __future__ import annotations

from convoy.health.generic import unobserved
from convoy.health.phase import ObjectHealth, degraded, healthy, progressing
from convoy.health.trees import Tree, child, conditions, is_true, number, text, why

NO_DEADLINE = 2**31 - 1
"""`progressDeadlineSeconds` of a Deployment that wants no condition Progressing."""


def deployment(tree: Tree) -> ObjectHealth:
    """Judge a Deployment. One that is paused is left alone on purpose, so it is healthy, with a note (D26)."""
    spec, status, found = child(tree, "spec"), child(tree, "status"), conditions(tree)
    if spec.get("paused") is True:
        return healthy("is paused")
    rollout = found.get("Progressing", {})
    if text(rollout, "reason") == "ProgressDeadlineExceeded":
        return degraded(why(rollout))
    wanted, updated = number(spec, "replicas", 1), number(status, "updatedReplicas")
    available = number(status, "availableReplicas")
    short = (
        unobserved(tree)
        or _short(number(status, "replicas"), wanted, "created")
        or _short(updated, wanted, "updated")
        or _surplus(status, wanted)
        or _short(available, updated, "available")
        or _short(number(status, "readyReplicas"), wanted, "ready")
    )
    if short is not None:
        return short
    deadline = number(spec, "progressDeadlineSeconds", NO_DEADLINE)
    if deadline != NO_DEADLINE and not (
        is_true(rollout) and text(rollout, "reason") == "NewReplicaSetAvailable"
    ):
        return progressing("its new ReplicaSet is not available yet")
    if not is_true(found.get("Available")):
        return progressing("is not available yet")
    return healthy()


def stateful_set(tree: Tree) -> ObjectHealth:
    """Judge a StatefulSet: with OnDelete a person updates it, with a partition only a part of it is updated."""
    spec, status = child(tree, "spec"), child(tree, "status")
    strategy = child(spec, "updateStrategy")
    if text(strategy, "type") == "OnDelete":
        return healthy("is updated by hand (OnDelete)")
    wanted = number(spec, "replicas", 1)
    short = (
        unobserved(tree)
        or _short(number(status, "replicas"), wanted, "created")
        or _short(number(status, "readyReplicas"), wanted, "ready")
        or _surplus(status, wanted)
    )
    if short is not None:
        return short
    partition = number(child(strategy, "rollingUpdate"), "partition", 0)
    updated = number(status, "updatedReplicas")
    if partition > 0:
        return _short(updated, max(wanted - partition, 0), "updated, up to the partition") or healthy(
            f"is updated up to partition {partition}"
        )
    if text(status, "currentRevision") != text(status, "updateRevision"):
        return progressing(f"{updated} of {wanted} replicas updated")
    return _short(number(status, "currentReplicas"), wanted, "current") or healthy()


def daemon_set(tree: Tree) -> ObjectHealth:
    """Judge a DaemonSet."""
    status = child(tree, "status")
    wanted = number(status, "desiredNumberScheduled")
    by_hand = text(child(tree, "spec", "updateStrategy"), "type") == "OnDelete"
    return (
        unobserved(tree)
        or _short(number(status, "currentNumberScheduled"), wanted, "scheduled", noun="Pods")
        or (None if by_hand else _short(number(status, "updatedNumberScheduled"), wanted, "updated", "Pods"))
        or _short(number(status, "numberAvailable"), wanted, "available", noun="Pods")
        or _short(number(status, "numberReady"), wanted, "ready", noun="Pods")
        or healthy("is updated by hand (OnDelete)" if by_hand else "")
    )


def replica_set(tree: Tree) -> ObjectHealth:
    """Judge a ReplicaSet or a ReplicationController."""
    spec, status = child(tree, "spec"), child(tree, "status")
    failure = conditions(tree).get("ReplicaFailure")
    if failure is not None and is_true(failure):
        return progressing(why(failure))
    wanted = number(spec, "replicas", 1)
    return (
        unobserved(tree)
        or _short(number(status, "fullyLabeledReplicas"), wanted, "labelled")
        or _short(number(status, "availableReplicas"), wanted, "available")
        or _short(number(status, "readyReplicas"), wanted, "ready")
        or _surplus(status, wanted)
        or healthy()
    )


def pod(tree: Tree) -> ObjectHealth:
    """Judge a Pod. One that finds no node is on its way: a new node may be made for it."""
    status, found = child(tree, "status"), conditions(tree)
    match text(status, "phase"):
        case "Succeeded":
            return healthy("has completed")
        case "Failed":
            return degraded(_told("has failed", text(status, "reason") or text(status, "message")))
        case "Running" if is_true(found.get("Ready")):
            return healthy()
        case "Running" | "Pending":
            return _waiting(tree, found)
    return progressing("is not observed by its node yet")


def _waiting(tree: Tree, found: dict[str, Tree]) -> ObjectHealth:
    waiting = _waiting_containers(tree)
    looping = [name for name, reason in waiting.items() if reason == "CrashLoopBackOff"]
    if looping:
        return degraded(f"containers crash again and again: {', '.join(looping)}")
    scheduled = found.get("PodScheduled", {})
    if scheduled.get("status") == "False":
        return progressing(_told("is not scheduled", why(scheduled)))
    held = ", ".join(f"{name}: {reason}" for name, reason in waiting.items() if reason)
    return progressing(_told("is not ready", held))


def _waiting_containers(tree: Tree) -> dict[str, str]:
    """Return why each container that waits does, init containers included."""
    status = child(tree, "status")
    lists = (status.get("initContainerStatuses"), status.get("containerStatuses"))
    found = [each for some in lists if isinstance(some, list) for each in some if isinstance(each, dict)]
    return {
        text(each, "name"): text(child(each, "state", "waiting"), "reason")
        for each in found
        if child(each, "state", "waiting")
    }


def _short(have: int, wanted: int, what: str, noun: str = "replicas") -> ObjectHealth | None:
    return progressing(f"{have} of {wanted} {noun} {what}") if have < wanted else None


def _surplus(status: Tree, wanted: int) -> ObjectHealth | None:
    surplus = number(status, "replicas") - wanted
    return progressing(f"{surplus} old replicas are not gone yet") if surplus > 0 else None


def _told(what: str, detail: str) -> str:
    return f"{what}: {detail}" if detail else what
