"""What the clock says about a Release in manual mode: its periodic reconcile without a request only reports."""

from __future__ import annotations

from datetime import UTC, datetime

from activities.own_release import write_release_status
from convoy.api.conditions import condition_says, find_condition
from convoy.api.names import APPLIED, MANAGER
from convoy.api.objects import Manifest
from convoy.api.release import Release
from convoy.kube.client import KubeClient
from convoy.policy.decide import decide_manual
from convoy.policy.request import pending_request
from convoy.sync.release_status import reported


async def report_manual(home: KubeClient, release: Release, render_ref: str) -> None:
    """Write what a reconcile of this render would only say (design 04), where it says something new."""
    report = decide_manual(release, render_ref=render_ref) if render_ref else None
    if report is None or release.spec.suspend:
        return
    said = {"status": report.status, "reason": report.reason, "message": report.message}
    generation = release.metadata.generation

    def build(tree: Manifest) -> Manifest | None:
        before = find_condition((tree.get("status") or {}).get("conditions"), APPLIED)
        if condition_says(before, **said, generation=generation):
            return None
        if pending_request(Release.model_validate(tree)) is not None:
            return None  # a request came in: its sync will say more than this
        return reported(tree, **said, generation=generation, now=datetime.now(UTC))

    await write_release_status(home, release.metadata.uid, build, manager=MANAGER)
