"""What the health of a render writes: the inventory's status and the condition Healthy. Pure.

Both are written on a change alone. A write of the health data starts a reconcile (`reference/sync-policy`), so what
counts as one is chosen with care: phases and which objects are unhealthy, not the count of replicas in a message.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from convoy.api.conditions import find_condition, with_condition, with_summary
from convoy.api.names import HEALTHY
from convoy.api.objects import Manifest
from convoy.api.times import format_time
from convoy.health.assessment import RenderHealth
from convoy.health.phase import Phase

_STATUS = {Phase.HEALTHY: "True", Phase.UNKNOWN: "Unknown"}


def health_of(inventory: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the health data of an inventory; empty where it has none."""
    return (inventory.get("status") or {}).get("health") or {}


def next_health(before: Mapping[str, Any], health: RenderHealth, *, now: datetime) -> Manifest:
    """Return the health data to write; `healthyAt` stays as long as the render does."""
    tree = health.tree()
    known = before.get("healthyAt") if before.get("renderRef") == health.render_ref else None
    if known or health.phase is Phase.HEALTHY:
        tree["healthyAt"] = known or format_time(now)
    return tree


def reaches(before: Mapping[str, Any], health: RenderHealth) -> bool:
    """Return whether the render becomes healthy for the first time: a /sync request is due, once a render."""
    known = before.get("renderRef") == health.render_ref and before.get("healthyAt")
    return health.phase is Phase.HEALTHY and not known


def verdict(health: Mapping[str, Any]) -> tuple[object, ...]:
    """Return what of health data is written at once when it changes."""
    waves = tuple((wave.get("wave"), wave.get("phase")) for wave in health.get("waves") or ())
    return health.get("renderRef"), health.get("phase"), waves


def unhealthy(health: Mapping[str, Any]) -> tuple[object, ...]:
    """Return which objects health data names, without why: written only now and then while a rollout moves."""
    return tuple((each.get("ref"), each.get("phase")) for each in health.get("unhealthy") or ())


def says_already(tree: Manifest, health: RenderHealth) -> bool:
    """Return whether Healthy says just this already, about the spec that was reconciled last."""
    found = find_condition((tree.get("status") or {}).get("conditions"), HEALTHY) or {}
    said = tuple(found.get(name) for name in ("reason", "message", "observedGeneration"))
    return said == (health.phase.value, health.message, observed_generation(tree))


def observed_generation(tree: Manifest) -> int:
    """Return the generation that was reconciled last."""
    return int((tree.get("status") or {}).get("observedGeneration") or 0)


def healthy_status(
    tree: Manifest, health: RenderHealth, *, generation: int, now: datetime
) -> Manifest | None:
    """Return the status of manager `convoy-health`: Healthy and the summary; None where it says so already."""
    conditions = (tree.get("status") or {}).get("conditions")
    condition = with_condition(
        conditions,
        type=HEALTHY,
        status=_STATUS.get(health.phase, "False"),
        reason=health.phase.value,
        message=health.message,
        generation=generation,
        now=now,
    )
    if find_condition(conditions, HEALTHY) == condition:
        return None
    return {"conditions": with_summary(tree, condition, now=now)}
