"""What holds for objects of every kind, as kstatus reads them: deletion, generations, conditions."""

from __future__ import annotations

from convoy.health.phase import ObjectHealth, degraded, healthy, progressing
from convoy.health.trees import Tree, child, conditions, is_true, number, why


def not_current(tree: Tree) -> ObjectHealth | None:
    """Return the health of an object whose status says nothing about its present spec; None: it may be judged.

    A status of an older generation is that of the old replicas: judged by it, a bad image would look healthy (D26).
    """
    metadata, status = child(tree, "metadata"), child(tree, "status")
    if metadata.get("deletionTimestamp"):
        return progressing("is being deleted")
    generation = number(metadata, "generation")
    observed = number(status, "observedGeneration", generation)
    if observed < generation:
        return progressing(f"generation {generation} is not observed yet (the status is of {observed})")
    return None


def unobserved(tree: Tree) -> ObjectHealth | None:
    """Return the health of an object that no controller has seen; only for kinds whose controllers all say so."""
    if "observedGeneration" not in child(tree, "status"):
        return progressing("is not observed by its controller yet")
    return None


def by_conditions(tree: Tree) -> ObjectHealth | None:
    """Judge by Reconciling and Stalled, which kstatus knows; None: they say nothing."""
    found = _current_conditions(tree)
    if is_true(found.get("Reconciling")):
        return progressing(why(found["Reconciling"]))
    if is_true(found.get("Stalled")):
        return degraded(why(found["Stalled"]))
    return None


def by_ready(tree: Tree) -> ObjectHealth:
    """Judge by Ready, which most custom resources have; one without any condition is healthy."""
    stale = conditions(tree).get("Ready")
    ready = _current_conditions(tree).get("Ready")
    if stale is not None and ready is None:
        return progressing("the condition Ready is of an older generation")
    if ready is None or is_true(ready):
        return healthy()
    return progressing(why(ready) or f"Ready is {ready.get('status')}")


def _current_conditions(tree: Tree) -> dict[str, Tree]:
    """Return the conditions that are about the present generation."""
    generation = number(child(tree, "metadata"), "generation")
    return {
        kind: condition
        for kind, condition in conditions(tree).items()
        if number(condition, "observedGeneration", generation) >= generation
    }
