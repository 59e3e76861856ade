"""`status.waves` while a sync runs, written by its own field manager (`reference/apply-and-prune`, Status)."""

from __future__ import annotations

from datetime import UTC, datetime

from activities.lease import Lease
from activities.own_release import write_release_status
from activities.services import Services
from convoy.api.names import MANAGER_PROGRESS
from convoy.api.objects import Manifest
from convoy.api.times import format_time
from convoy.sync.release_status import WaveProgress, progress, waves_at
from workflows.contract import Plan


async def tell_progress(
    services: Services,
    plan: Plan,
    now_at: WaveProgress,
    *,
    known: Manifest | None = None,
    lease: Lease | None = None,
) -> None:
    """Write how far the waves of a plan are. `known` saves a read, and the write where nothing has changed.

    An attempt that has lost its `lease` writes nothing: the one that took over is further.
    """
    time = format_time(datetime.now(UTC))

    def build(tree: Manifest) -> Manifest | None:
        if lease is not None and lease.lost:
            return None
        before = (tree.get("status") or {}).get("waves") or []
        given = (tree.get("spec") or {}).get("syncWaves") or ()
        waves = waves_at(
            before,
            [(wave.wave, wave.objects) for wave in plan.waves],
            now_at,
            time=time,
            strategies={wave["wave"]: wave.get("strategy", "Apply") for wave in given},
        )
        return progress(tree, waves) if waves != before else None

    await write_release_status(services.home, plan.uid, build, manager=MANAGER_PROGRESS, known=known)
