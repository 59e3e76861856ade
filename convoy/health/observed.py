"""What the observer's health data in an inventory says about a render (`status.health`), as pure functions."""

from __future__ import annotations

from dataclasses import dataclass

from convoy.api.inventory import ReleaseInventory
from convoy.api.names import APPLIED
from convoy.api.objects import counted
from convoy.api.release import Release

_TOLD = 3
"""Unhealthy objects in a message."""


@dataclass(frozen=True, slots=True)
class HealthyRender:
    """A render that is applied as a whole and was healthy; empty texts where there is none."""

    ref: str = ""
    at: str = ""
    """When it was healthy for the first time since it was applied."""
    now: bool = False
    """It still is."""

    def since(self, time: str) -> str:
        """Return its ref if it was healthy since this time, else nothing."""
        return self.ref if self.now or (time and self.at >= time) else ""


NOT_HEALTHY = HealthyRender()


def healthy_render(inventory: ReleaseInventory) -> HealthyRender:
    """Return the render that is applied as a whole, if it was healthy."""
    health, applied = inventory.status.health, inventory.spec.render_ref
    if health is None or not applied or health.render_ref != applied:
        return NOT_HEALTHY
    now = health.phase == "Healthy"
    return HealthyRender(applied, health.healthy_at or "", now) if now or health.healthy_at else NOT_HEALTHY


def applied_since(release: Release, ref: str, time: str) -> bool:
    """Tell whether a rollout that began then has applied this render, and not only an earlier sync.

    By the latest attempt, or by the latest one that succeeded: `startedAt` moves on while a person takes his time, and
    a later resync may fail.
    """
    status = release.status
    attempt = status.last_attempted
    if attempt is not None and (attempt.render_ref, attempt.reason) == (ref, APPLIED):
        return True
    # Times are whole seconds: a success in the very second may be that of the sync before.
    return status.applied_render_ref == ref and status.applied_at > time


def last_healthy_render(release: Release) -> str:
    """Return the latest render that was applied and healthy, or nothing."""
    return next((entry.render_ref for entry in release.status.renders if entry.healthy_at), "")


def revisions_of(release: Release) -> dict[str, str]:
    """Return the revision of each render that the status of a Release tells of."""
    told = {each.render_ref: each.revision for each in release.status.renders if each.revision}
    attempt = release.status.last_attempted
    if attempt is not None and attempt.render_ref and attempt.revision:
        told[attempt.render_ref] = attempt.revision
    return told


def trouble_of(release: Release, inventory: ReleaseInventory, ref: str) -> str:
    """Tell why a render is not applied, or not healthy; nothing where that is not known."""
    attempt = release.status.last_attempted
    if attempt is not None and attempt.render_ref == ref and attempt.reason not in (None, "Applied"):
        return f"{attempt.reason}: {attempt.message or ''}"
    health = inventory.status.health
    if health is None or health.render_ref != ref or not health.unhealthy:
        return ""
    told = [f"{one.ref}: {one.phase}: {one.message or ''}".rstrip(": ") for one in health.unhealthy[:_TOLD]]
    more = len(health.unhealthy) - len(told)
    return "; ".join(told) + (f"; and {counted(more, 'object')} more" if more else "")
