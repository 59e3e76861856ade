"""What starts a reconcile (`reference/sync-policy`, What starts a reconcile), and nothing else.

Each pass writes what it has seen, as it begins, to status.handled (`seen`). The watcher compares the
Release with that (`reasons_to_sync`) and so needs no memory of its own: it may restart, run twice, or see
an event again. Both sides are made by one function, therefore a status write starts nothing: nothing of it
is compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from convoy.api.names import (
    ABANDON,
    HEALTH_REQUESTED_AT,
    SELF_HEAL_REQUESTED_AT,
    SYNC_FORCE_REQUESTED_AT,
    SYNC_REQUESTED_AT,
)
from convoy.api.release import Release
from convoy.api.release_status import Handled
from convoy.api.spec_hash import digest
from convoy.policy.cluster_waves import lower_waves_changed, seen_lower_waves


class Trigger(StrEnum):
    """Why a reconcile was started; as in status.lastAttempted.trigger."""

    CREATED = "Created"
    SPEC_CHANGED = "SpecChanged"
    SYNC_REQUESTED = "SyncRequested"
    SELF_HEAL = "SelfHeal"
    """The observer found drift (`reference/drift`, Self-heal). Always with a request."""
    HEALTH_CHANGED = "HealthChanged"
    HEALTH_REACHED = "HealthReached"
    """The health loop asks: a wave or a render became healthy, or a batch of hooks is done. Always with a request."""
    APPROVED = "Approved"
    """A person approved a hook that the sync waits for."""
    TIMED_OUT = "TimedOut"
    """The deadline of a wait passed."""
    ROLLOUT_FAILED = "RolloutFailed"
    """The time of a rollout is up, or it failed at a preSync hook: what follows for the Release is to be done."""
    LOWER_WAVE_CHANGED = "LowerWaveChanged"
    DELETED = "Deleted"
    OWNER_CHANGED = "OwnerChanged"
    """An inventory change that ends a WaitingForOwner (D14)."""
    PERIODIC = "Periodic"
    """The interval or the resync passed."""
    RETRY = "Retry"
    """The backoff after a failure passed."""
    MANUAL = "Manual"
    """Asked for through the Temporal CLI; it becomes a /sync request before anything else happens."""
    RESTARTED = "Restarted"
    """The render got lost between two steps; the pass starts again."""


LOOKS = frozenset({Trigger.HEALTH_REACHED, Trigger.HEALTH_CHANGED, Trigger.APPROVED, Trigger.TIMED_OUT})
"""What only looks whether a wait is over (D25): the pass goes on where it stands, and repeats nothing."""

REQUESTED_BY = {
    Trigger.HEALTH_REACHED: HEALTH_REQUESTED_AT,
    Trigger.SELF_HEAL: SELF_HEAL_REQUESTED_AT,
}
"""The annotation that says which of convoy's own loops made the /sync request of that time; none where a person did."""


def seen(
    release: Release,
    *,
    spec_hash: str,
    health: str = "",
    siblings: Iterable[Release] = (),
) -> Handled:
    """Return what there is to see of a Release now.

    `spec_hash` is that of the stored tree (`convoy.api.spec_hash`), `health` the `health_digest` of its
    inventory, `siblings` the Releases of lower cluster waves at least.
    """
    annotations = release.metadata.annotations
    return Handled(
        uid=release.metadata.uid,
        spec_hash=spec_hash,
        sync_requested_at=annotations.get(SYNC_REQUESTED_AT),
        sync_force_requested_at=annotations.get(SYNC_FORCE_REQUESTED_AT),
        lower_waves=seen_lower_waves(release, siblings) or None,
        health=health or None,
        deletion_timestamp=release.metadata.deletion_timestamp,
        abandon=annotations.get(ABANDON),
    )


def health_digest(inventory: Mapping[str, Any]) -> str:
    """Return the digest of an inventory's health data, for `seen`; empty where it has none."""
    health = (inventory.get("status") or {}).get("health")
    return digest(health) if health else ""


def reasons_to_sync(release: Release, now: Handled) -> list[Trigger]:
    """Return what starts a reconcile of this Release, comparing `now` (from `seen`) with status.handled.

    A force annotation alone starts nothing: /sync?force=true always writes the other annotation too. A
    Release that is being deleted has one reason, its deletion, and once more when it is to be abandoned.
    """
    handled = release.status.handled
    created = handled.uid != now.uid
    if now.deletion_timestamp is not None:
        known = (handled.deletion_timestamp, handled.abandon) == (now.deletion_timestamp, now.abandon)
        return [Trigger.DELETED] if created or not known else []
    if created:
        return [Trigger.CREATED]
    asked = handled.sync_requested_at != now.sync_requested_at
    # Level-triggered as well: whichever of the two signals comes first, the one of a loop of convoy's or the watcher's
    # echo of its annotation, the pass knows who asked.
    by_loop = [
        trigger
        for trigger, name in REQUESTED_BY.items()
        if now.sync_requested_at is not None
        and release.metadata.annotations.get(name) == now.sync_requested_at
    ]
    changes = {
        Trigger.SPEC_CHANGED: handled.spec_hash != now.spec_hash,
        Trigger.SYNC_REQUESTED: asked and not by_loop,
        **dict.fromkeys(by_loop, asked),
        Trigger.HEALTH_CHANGED: now.health is not None
        and handled.health != now.health
        and not is_unfinished(release),
        Trigger.LOWER_WAVE_CHANGED: lower_waves_changed(handled.lower_waves or "", now.lower_waves or ""),
    }
    return [trigger for trigger, changed in changes.items() if changed]


def is_unfinished(release: Release) -> bool:
    """Return whether the latest pass has begun and not written its result.

    While it runs, what it finds about the health it also handles, and its end is an event of its own.
    """
    sync = release.status.sync
    return sync is not None and bool(sync.run_id) and not sync.settled_at
