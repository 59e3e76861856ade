"""What the clock says about a Release in manual mode: its periodic reconcile without a request only reports."""

from __future__ import annotations

from datetime import UTC, datetime

from activities.own_release import write_release_status
from convoy.api.conditions import condition_says, find_condition
from convoy.api.names import APPLIED, MANAGER, SYNC_REQUESTED_AT
from convoy.api.objects import Manifest
from convoy.api.release import Release
from convoy.hooks.failures import with_failed_post_sync
from convoy.kube.client import KubeClient
from convoy.policy.decide import decide_manual
from convoy.sync.release_status import own_status, reported


async def report_manual(home: KubeClient, read: Manifest, release: Release, render_ref: str) -> None:
    """Write what a reconcile of this render would only say (design 04), where it says something new.

    `read` is the Release as the pass has read it. A sync that has begun since, or a request for one, says more than
    this: its result is not overwritten.
    """
    report = decide_manual(release, render_ref=render_ref) if render_ref else None
    if report is None or release.spec.suspend:
        return
    message = report.message
    if report.status == "True":
        message = with_failed_post_sync(message, release, render_ref)
    said = {"status": report.status, "reason": report.reason, "message": message}
    generation, basis = release.metadata.generation, _basis(read)

    def build(tree: Manifest) -> Manifest | None:
        before = find_condition((tree.get("status") or {}).get("conditions"), APPLIED)
        if _basis(tree) != basis or condition_says(before, **said, generation=generation):
            return None
        return reported(tree, **said, generation=generation, now=datetime.now(UTC))

    await write_release_status(home, release.metadata.uid, build, manager=MANAGER)


def _basis(tree: Manifest) -> tuple[object, ...]:
    """Return what the report is computed from: the spec, the request, and what the latest sync said."""
    metadata = tree["metadata"]
    said = {name: value for name, value in own_status(tree).items() if name != "conditions"}
    request = (metadata.get("annotations") or {}).get(SYNC_REQUESTED_AT)
    return metadata["uid"], metadata["generation"], request, said
