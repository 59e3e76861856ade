"""The health of one live object: which rule judges it, in which order (D26)."""

from __future__ import annotations

from convoy.api.objects import Manifest, ObjectKey
from convoy.api.rendered import RenderedObject
from convoy.health.builtin import RULES, is_always_healthy, late_claim, service
from convoy.health.checks import HealthChecks
from convoy.health.generic import by_conditions, by_ready, not_current
from convoy.health.phase import ObjectHealth, Phase, degraded, healthy
from convoy.health.trees import child, text

MISSING = degraded("does not exist")
"""Of an object that was applied and is gone: nothing but another apply brings it back, so it is no progress."""

NO_CHECKS = HealthChecks({})

CLAIM = ("", "PersistentVolumeClaim")
_SERVICE = ("", "Service")


def judge(
    key: ObjectKey,
    live: Manifest | None,
    *,
    checks: HealthChecks = NO_CHECKS,
    late_classes: frozenset[str] = frozenset(),
) -> ObjectHealth:
    """Judge a live object; None: it does not exist.

    `late_classes` are the storage classes that bind with the first Pod. The live object is newer than the apply: it
    was read after it, so its generation is the one that the apply returned, or a later one.
    """
    if live is None:
        return MISSING
    stale = not_current(live)
    if stale is not None:
        return stale
    check = checks.of(key)
    if check is not None:
        return check.judge(live)
    told = by_conditions(live)
    if told is not None:
        return told
    kind = (key.group, key.kind)
    if kind == CLAIM and text(child(live, "spec"), "storageClassName") in late_classes:
        return late_claim(live)
    rule = RULES.get(kind)
    if rule is not None:
        return rule(live)
    return healthy() if is_always_healthy(key) else by_ready(live)


def needs_reading(item: RenderedObject, checks: HealthChecks = NO_CHECKS) -> bool:
    """Return whether the live object can be anything else than healthy.

    Most objects of a render cannot (ConfigMaps, Secrets, roles, plain Services): they cost no request here, and
    whether they are still there is for the drift pass to say.
    """
    if checks.of(item.key) is not None:
        return True
    if (item.key.group, item.key.kind) == _SERVICE:
        return service(item.manifest).phase is not Phase.HEALTHY
    return not is_always_healthy(item.key)
