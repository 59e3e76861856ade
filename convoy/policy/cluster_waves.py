"""The order of Releases on one Cluster (`spec.clusterWave`): which Release another one waits for.

Only what a sibling still has to do blocks:

* A lower Release that is being deleted does not: it will never be Applied again.
* A suspended lower Release counts by the state it was left in: if its latest attempt applied its render and
  that is healthy, nothing of it changes until it is resumed, and it does not block. Otherwise it does, and the
  message says what to do.
* An Applied condition of an older generation says nothing about the present one: when a whole fleet is
  changed at once, the waves keep their order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from convoy.api.common import condition_of
from convoy.api.names import APPLIED, HEALTHY
from convoy.api.release import Release
from convoy.api.spec_hash import digest

PENDING = "+pending"


@dataclass(frozen=True, slots=True)
class Blocker:
    """A Release that must be Applied and Healthy first."""

    name: str
    message: str
    """Why it is waited for, and what to do about it."""


def lower_releases(release: Release, siblings: Iterable[Release]) -> list[Release]:
    """Return the Releases of lower cluster waves on the same Cluster, lowest first, none being deleted."""
    lower = [
        sibling
        for sibling in siblings
        if sibling.metadata.namespace == release.metadata.namespace
        and sibling.spec.cluster_ref.name == release.spec.cluster_ref.name
        and sibling.spec.cluster_wave < release.spec.cluster_wave
        and sibling.metadata.deletion_timestamp is None
    ]
    return sorted(lower, key=lambda sibling: (sibling.spec.cluster_wave, sibling.metadata.name))


def blocking_release(release: Release, siblings: Iterable[Release]) -> Blocker | None:
    """Return the first Release that this one waits for, or None."""
    for sibling in lower_releases(release, siblings):
        why = _why_not_ready(sibling)
        if why:
            who = f"Release {sibling.metadata.namespace}/{sibling.metadata.name}"
            return Blocker(
                name=sibling.metadata.name,
                message=f"waits for {who} of cluster wave {sibling.spec.cluster_wave}: {why}",
            )
    return None


def seen_lower_waves(release: Release, siblings: Iterable[Release]) -> str:
    """Return what a pass has seen of the lower waves, for status.handled.lowerWaves. Empty: nothing.

    The digest covers the statuses of Applied and Healthy and nothing else. Its end tells that some lower
    Release has not reconciled its present spec yet, so that the end of that starts a reconcile and its
    beginning does not.
    """
    lower = lower_releases(release, siblings)
    statuses = [
        (sibling.metadata.name, _status(sibling, APPLIED), _status(sibling, HEALTHY)) for sibling in lower
    ]
    told = [entry for entry in statuses if any(entry[1:])]
    pending = any(not sibling.spec.suspend and not is_current(sibling) for sibling in lower)
    return (digest(told) if told else "") + (PENDING if pending else "")


def lower_waves_changed(handled: str, seen: str) -> bool:
    """Tell whether what is seen now starts a reconcile of a Release whose latest pass has seen `handled`."""
    return seen not in (handled, handled + PENDING)


def _why_not_ready(release: Release) -> str | None:
    if release.spec.suspend:
        undone = not _was_left_applied(release)
        return "it was suspended before it was applied and healthy; resume or delete it" if undone else None
    if not is_current(release):
        return "its present spec is not reconciled yet"
    if _status(release, APPLIED) != "True":
        return _told(release, APPLIED)
    return None if _status(release, HEALTHY) == "True" else _told(release, HEALTHY)


def _was_left_applied(release: Release) -> bool:
    attempted = release.status.last_attempted
    undone = attempted is not None and attempted.reason not in (None, APPLIED)
    healthy = _status(release, HEALTHY) == "True"
    return release.status.applied_render_ref != "" and not undone and healthy


def is_current(release: Release) -> bool:
    """Return whether the Applied condition is about the present spec."""
    applied = condition_of(release.status.conditions, APPLIED)
    return applied is not None and (applied.observed_generation or 0) >= release.metadata.generation


def _status(release: Release, kind: str) -> str | None:
    condition = condition_of(release.status.conditions, kind)
    return condition.status if condition else None


def _told(release: Release, kind: str) -> str:
    condition = condition_of(release.status.conditions, kind)
    return f"{kind} is {condition.status} ({condition.reason})" if condition else f"{kind} is not set"
