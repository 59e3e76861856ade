"""Whether a resolved render is applied now (`reference/sync-policy`, Automatic and manual mode)."""

from __future__ import annotations

from dataclasses import dataclass

from convoy.api.errors import WaitingForSync
from convoy.api.names import APPLIED
from convoy.api.release import Release
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
    the render is compared with status.lastSuccessful.renderRef, and neither apply nor dry run follows.
    """
    if release.spec.sync_policy.automatic or pending_request(release) is not None:
        return None
    latest = release.status.last_successful
    applied = latest.render_ref if latest else None
    if applied == render_ref:
        return _report(release, "True", APPLIED, "The Release is in sync; the apply waits for /sync.")
    seen = f"The applied render is {applied}." if applied else "No render is applied yet."
    message = f"The render {render_ref} waits for /sync. {seen} To apply it: {sync_command(release)}"
    return _report(release, "False", WaitingForSync.reason, message)


def sync_command(release: Release) -> str:
    """Return the command that requests a sync of this Release."""
    return f"kubectl convoy release sync {release.metadata.name} -n {release.metadata.namespace}"


def _report(release: Release, status: str, reason: str, message: str) -> Report:
    return Report(status, reason, with_annotation_faults(message, release.metadata.annotations))
