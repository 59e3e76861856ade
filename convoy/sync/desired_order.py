"""Which render a Release should have: the order of `reference/drift` (The desired render), as pure functions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from convoy.api.release import Release
from convoy.health.rollout import RolloutPhase

_TOLD = 5
"""Refs of the history in a message."""


class Origin(StrEnum):
    """Where a desired render comes from."""

    PIN = "pin"
    LAST_HEALTHY = "lastHealthy"
    FRESH = "fresh"


@dataclass(frozen=True, slots=True)
class Wish:
    """A stored render that comes before a fresh one, if the render store has it."""

    origin: Origin
    render_ref: str


def stored_wishes(release: Release) -> tuple[Wish, ...]:
    """Return the stored renders that come before a fresh one, in the page's order."""
    wishes = []
    if release.pin is not None:
        wishes.append(Wish(Origin.PIN, release.pin.render_ref))
    # Without the policy nobody rolls back: the next reconcile clears the rollout.
    rollout = release.status.rollout if release.spec.failure_policy is not None else None
    if rollout is not None and rollout.phase == RolloutPhase.ROLLED_BACK and rollout.last_healthy_render_ref:
        wishes.append(Wish(Origin.LAST_HEALTHY, rollout.last_healthy_render_ref))
    return tuple(wishes)


def ends_rollback(release: Release, fresh_ref: str) -> bool:
    """Whether this fresh render ends the rollback of a Release: it is another one than the one that failed (D28)."""
    rollout = release.status.rollout
    return rollout is not None and bool(rollout.render_ref) and rollout.render_ref != fresh_ref


def lost_rollback(release: Release, why: str) -> str:
    """Tell what to do where a Release is rolled back to a render that cannot be had."""
    name = f"{release.metadata.name} -n {release.metadata.namespace}"
    return (
        f"the Release is rolled back to its last healthy render, and {why}. Nothing is applied, since the source still "
        "gives the render that failed: restore the render store, push a fix, or try the failed render again "
        f"(kubectl convoy release sync {name} --force)"
    )


def needed_renders(release: Release) -> frozenset[str]:
    """Return the refs of all stored renders that a Release may still ask for: no other one may be deleted."""
    status = release.status
    named = [entry.render_ref for entry in status.renders]
    if release.pin is not None:
        named.append(release.pin.render_ref)
    for record in (status.last_attempted, status.last_successful, status.rollout):
        if record is not None and record.render_ref:
            named.append(record.render_ref)
    if status.rollout is not None and status.rollout.last_healthy_render_ref:
        named.append(status.rollout.last_healthy_render_ref)
    return frozenset(named)


def pin_advice(release: Release) -> str:
    """Tell what to do about a pin that cannot be followed."""
    pinned = release.pin.render_ref if release.pin is not None else ""
    known = dict.fromkeys(entry.render_ref for entry in release.status.history if entry.render_ref != pinned)
    if not known:
        return "remove the pin"
    more = f" and {len(known) - _TOLD} more" if len(known) > _TOLD else ""
    return f"remove the pin, or pin a render of the history: {', '.join(list(known)[:_TOLD])}{more}"
