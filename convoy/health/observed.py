"""What the observer's health data in an inventory says about a render (`status.health`), as pure functions."""

from __future__ import annotations

from convoy.api.inventory import ReleaseInventory
from convoy.api.objects import counted
from convoy.api.release import Release

_TOLD = 3
"""Unhealthy objects in a message."""


def healthy_render(inventory: ReleaseInventory) -> str:
    """Return the ref of the render that is applied as a whole and healthy, or nothing."""
    health, applied = inventory.status.health, inventory.spec.render_ref
    if health is None or health.phase != "Healthy" or health.render_ref != applied:
        return ""
    return applied or ""


def last_healthy_render(release: Release) -> str:
    """Return the latest render of the history that was healthy, or nothing."""
    return next((entry.render_ref for entry in release.status.history if entry.healthy_at), "")


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
