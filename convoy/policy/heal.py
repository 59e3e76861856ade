"""Whether drift of a Release asks for a sync (`reference/drift`, Self-heal; D35)."""

from __future__ import annotations

from typing import Final

from convoy.api.common import condition_of
from convoy.api.errors import DeployFailed, Hold, HookFailed, WaitingForHealth, WaitingForPrune, error_classes
from convoy.api.names import APPLIED
from convoy.api.release import Release

_VAIN: Final = {HookFailed.reason} | {
    reason
    for reason, error in error_classes().items()
    if issubclass(error, Hold) and error not in (WaitingForPrune, WaitingForHealth)
}
"""Reasons of Applied with which a sync applies nothing more, however often it is asked for.

The waits of a prune are none of them: all is applied there, so what drifted since is drift like any other.
"""


def heals(release: Release) -> bool:
    """Return whether the observer requests a sync of this Release where it finds drift.

    In automatic mode, and not where its own sync waits or stands at a failed hook or a closed gate: what that has not
    applied yet is no drift that a request would heal. The tick's reconcile comes all the same, and applies the finished
    waves again (D25).
    """
    applied = condition_of(release.status.conditions, APPLIED)
    attempted = release.status.last_attempted
    at_gate = attempted is not None and attempted.gate is not None
    vain = applied is not None and (
        applied.reason in _VAIN or (applied.reason == DeployFailed.reason and at_gate)
    )
    return bool(release.spec.sync_policy.automatic) and not release.spec.suspend and not vain
