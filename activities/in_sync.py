"""The InSync condition on the Release, written by the manager `convoy-observe` (`reference/drift`).

A write that says nothing new would wake every watcher of the Release at every pass, so there is none.
"""

from __future__ import annotations

from datetime import UTC, datetime

from activities.own_release import write_release_status
from convoy.api.conditions import find_condition, with_condition, with_summary
from convoy.api.names import IN_SYNC, MANAGER_OBSERVE
from convoy.api.objects import Manifest
from convoy.drift.verdict import InSyncVerdict, must_write
from convoy.kube.client import KubeClient


async def write_in_sync(home: KubeClient, tree: Manifest, verdict: InSyncVerdict) -> None:
    """Write what a pass over the Release `tree` found, only where the condition or the generation changes."""
    generation = tree["metadata"].get("generation", 0)

    def build(latest: Manifest) -> Manifest | None:
        conditions = (latest.get("status") or {}).get("conditions")
        before = find_condition(conditions, IN_SYNC)
        if not must_write(verdict, condition=before, generation=generation):
            return None
        now = datetime.now(UTC)
        condition = with_condition(
            conditions,
            type=IN_SYNC,
            status=verdict.status,
            reason=verdict.reason,
            message=verdict.message,
            generation=generation,
            now=now,
        )
        return {"conditions": with_summary(latest, condition, now=now)}

    await write_release_status(home, tree["metadata"]["uid"], build, manager=MANAGER_OBSERVE)
