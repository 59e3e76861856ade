"""Conditions, built the same way by every status writer.

Each writer owns its own condition types and computes Ready anew from the object it read (design 02, Status
writers). Ready, Reconciling and Stalled are always written together and always with an explicit status: a
condition that one writer left out would stay for as long as another one owns it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from convoy.api.errors import Terminal, is_reason_of
from convoy.api.names import APPLIED, HEALTHY, READY, RECONCILING, STALLED
from convoy.api.times import format_time

ConditionTree = dict[str, Any]
Conditions = Sequence[Mapping[str, Any]] | None
"""`status.conditions` as it stands in a tree: the API server answers null on an object just created."""

RolloutTree = Mapping[str, Any] | None
"""`status.rollout` as it stands in a tree, or None."""

FAILED_ROLLOUTS: Final[Mapping[str, str]] = {"RolledBack": "RolledBack", "Failed": "RolloutFailed"}
"""Reason of Ready for each phase of a rollout that has failed (D28)."""

DEGRADED = "Degraded"
"""Reason of a Healthy that is False since an object failed; one that is on its way has the reason Progressing."""

MAX_MESSAGE = 32_768


def cut_message(message: str) -> str:
    """Cut a message to `MAX_MESSAGE` characters, saying how many are gone."""
    if len(message) <= MAX_MESSAGE:
        return message
    kept = MAX_MESSAGE - len(f"… ({len(message)} characters cut)")
    return f"{message[:kept]}… ({len(message) - kept} characters cut)"


def find_condition(conditions: Conditions, kind: str) -> Mapping[str, Any] | None:
    """Return the condition of a type, or None."""
    return next((condition for condition in conditions or () if condition.get("type") == kind), None)


def condition_says(
    condition: Mapping[str, Any] | None, *, status: str, reason: str, message: str, generation: int
) -> bool:
    """Return whether a condition (None: there is none) says just this about this generation."""
    said = (status, reason, message, generation)
    names = ("status", "reason", "message", "observedGeneration")
    return condition is not None and said == tuple(condition.get(name) for name in names)


def with_condition(
    existing: Conditions, *, type: str, status: str, reason: str, message: str, generation: int, now: datetime
) -> ConditionTree:
    """Return the new condition of a type. lastTransitionTime moves only when the status changes."""
    before = find_condition(existing, type)
    unchanged = before is not None and before.get("status") == status
    since = before.get("lastTransitionTime") if before is not None and unchanged else None
    return {
        "type": type,
        "status": status,
        "reason": reason,
        "message": cut_message(message),
        "observedGeneration": generation,
        "lastTransitionTime": since or format_time(now),
    }


def replace_condition(existing: Conditions, condition: ConditionTree) -> list[ConditionTree]:
    """Return the list with this condition in the place of the one of the same type, or at its end."""
    rest = [dict(other) for other in existing or ()]
    for index, other in enumerate(rest):
        if other.get("type") == condition["type"]:
            rest[index] = condition
            return rest
    return [*rest, condition]


def ready_condition(
    conditions: Conditions, *, rollout: RolloutTree, generation: int, now: datetime
) -> ConditionTree:
    """Return Ready: Applied and Healthy, and the rollout has not failed.

    Unknown while the generation is not reconciled yet: an Applied of an older spec says nothing about this
    one; and while nothing is known about the health of what was applied. After a rollback Applied and Healthy
    are about the render that is back, so the rollout is what tells that the change is not running (D28).
    """
    failed = FAILED_ROLLOUTS.get((rollout or {}).get("phase", ""))
    applied = find_condition(conditions, APPLIED)
    healthy = find_condition(conditions, HEALTHY)
    if applied is None or applied.get("observedGeneration", 0) < generation:
        status, reason, message = "Unknown", RECONCILING, f"generation {generation} is not reconciled yet"
    elif failed is not None:
        status, reason, message = "False", failed, (rollout or {}).get("message", "")
    elif applied["status"] != "True":
        status, reason, message = "False", applied.get("reason", ""), applied.get("message", "")
    elif healthy is None:
        status, reason, message = "Unknown", RECONCILING, "the health is not known yet"
    elif healthy["status"] != "True":
        status, reason, message = "False", healthy.get("reason", ""), healthy.get("message", "")
    else:
        status, reason, message = "True", READY, applied.get("message", "")
    return with_condition(
        conditions,
        type=READY,
        status=status,
        reason=reason,
        message=message,
        generation=generation,
        now=now,
    )


def with_summary(tree: Mapping[str, Any], condition: ConditionTree, *, now: datetime) -> list[ConditionTree]:
    """Return what a writer of one condition sends: that one, and the summary of the Release `tree` with it."""
    status = tree.get("status") or {}
    summary = summary_conditions(
        replace_condition(status.get("conditions"), condition),
        rollout=status.get("rollout"),
        generation=tree["metadata"].get("generation", condition["observedGeneration"]),
        now=now,
    )
    return [condition, *summary]


def summary_conditions(
    conditions: Conditions, *, rollout: RolloutTree, generation: int, now: datetime
) -> list[ConditionTree]:
    """Return Ready, Reconciling and Stalled, of which exactly one is True.

    kstatus reads Stalled as "failed" and Reconciling as "in progress". Stalled are the reasons that only a
    change can end (`reference/sync-policy`, Requeue rules), health that is Degraded and a rollout that has
    failed; a retry, a wait or a rollout under way is Reconciling. `rollout` is that of the status which the
    conditions are written with.
    """
    ready = ready_condition(conditions, rollout=rollout, generation=generation, now=now)
    ended = is_reason_of(ready["reason"], Terminal) or ready["reason"] in (
        DEGRADED,
        *FAILED_ROLLOUTS.values(),
    )
    stalled = ready["status"] == "False" and ended
    reconciling = ready["status"] != "True" and not stalled
    flags = ((RECONCILING, reconciling), (STALLED, stalled))
    return [
        ready,
        *(
            with_condition(
                conditions,
                type=kind,
                status=str(flag),
                reason=ready["reason"],
                message=ready["message"] if flag else "",
                generation=generation,
                now=now,
            )
            for kind, flag in flags
        ),
    ]
