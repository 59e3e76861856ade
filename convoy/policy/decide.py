"""Whether a resolved render is applied now (`reference/sync-policy`, Automatic and manual mode)."""

from __future__ import annotations

from dataclasses import dataclass

from convoy.api.errors import WaitingForSync
from convoy.api.names import APPLIED, SYNC_FORCE_REQUESTED_AT, SYNC_REQUESTED_AT
from convoy.api.release import Release
from convoy.api.rendered import brief_ref
from convoy.policy.request import pending_request, with_annotation_faults


@dataclass(frozen=True, slots=True)
class Report:
    """What the Applied condition says where nothing is applied."""

    status: str
    """`True` or `False`, as in a condition."""
    reason: str
    message: str


def decide_manual(release: Release, *, render_ref: str) -> Report | None:
    """Return what to report instead of applying, or None where the render is to be applied.

    In automatic mode each reconcile applies. In manual mode only a pending /sync request does; without one
    the render is compared with status.lastSuccessful.renderRef, which while postSync hooks run is not written yet for
    what is applied, and neither apply nor dry run follows.
    """
    if release.spec.sync_policy.automatic or pending_request(release) is not None:
        return None
    applied = release.status.applied_render_ref
    if applied == render_ref:
        return _report(release, "True", APPLIED, "The Release is in sync; the apply waits for /sync.")
    seen = f"The applied render is {brief_ref(applied)}." if applied else "No render is applied yet."
    told = f"The render {brief_ref(render_ref)} waits for /sync.{_rollback(release, render_ref)} {seen}"
    return _report(release, "False", WaitingForSync.reason, f"{told} To apply it: {sync_command(release)}")


def sync_command(release: Release) -> str:
    """Return the command that requests a sync of this Release."""
    return f"kubectl convoy release sync {release.metadata.name} -n {release.metadata.namespace}"


def _rollback(release: Release, render_ref: str) -> str:
    """Say that what waits is a rollback, where it is one (D28)."""
    rollout = release.status.rollout
    if rollout is None or rollout.phase != "RolledBack" or rollout.last_healthy_render_ref != render_ref:
        return ""
    return (
        f" It is the last healthy one, and takes the place of {brief_ref(rollout.render_ref)}, which failed."
    )


def _report(release: Release, status: str, reason: str, message: str) -> Report:
    handled = {
        SYNC_REQUESTED_AT: release.status.last_handled_sync_at,
        SYNC_FORCE_REQUESTED_AT: release.status.last_handled_force_sync_at,
    }
    return Report(status, reason, with_annotation_faults(message, release.metadata.annotations, handled))
