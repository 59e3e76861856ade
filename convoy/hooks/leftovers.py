"""Runs that no pass asks for any more: of hooks that left the Release or were changed, for a render that is no longer
the desired one, and of a Release that is being deleted (D27).

Each is found by its place in status.hooks; there is no Job with convoy's finalizer that does not stand there.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from convoy.api.hooks import HookStage
from convoy.api.release import Release
from convoy.api.release_status import HookStatus
from convoy.api.rendered import Render
from convoy.api.times import format_time
from convoy.hooks.definition import NEVER, StageHook, stage_hooks
from convoy.hooks.job import end_of, is_of, policy_of
from convoy.hooks.jobs import find_job, let_go
from convoy.hooks.plan import SUPERSEDED, hook_is_over, is_changed
from convoy.kube.client import KubeClient


def strays(release: Release, render: Render) -> tuple[HookStatus, ...]:
    """Return what status.hooks tells of hooks that neither the Release nor the chart has any more."""
    known = _hooks(release, render)
    return tuple(entry for entry in release.status.hooks if entry.name not in known)


def superseded(release: Release, render: Render) -> tuple[HookStatus, ...]:
    """Return the runs without a result that have begun for another render or as their hooks were defined before.

    Nobody waits for one any more.
    """
    known = _hooks(release, render)
    return tuple(
        entry
        for entry in release.status.hooks
        if not hook_is_over(entry)
        and (entry.render_ref != render.ref or (entry.name in known and is_changed(known[entry.name], entry)))
    )


def as_ended(entry: HookStatus, render: Render, now: datetime) -> HookStatus:
    """Return the result of a run that was superseded."""
    why = "another render is wanted" if entry.render_ref != render.ref else "its hook was changed"
    message = f"it was ended, since {why}"
    return entry.model_copy(update={"phase": SUPERSEDED, "finished_at": format_time(now), "message": message})


def _hooks(release: Release, render: Render) -> dict[str, StageHook]:
    return {hook.name: hook for stage in HookStage for hook in stage_hooks(release, render, stage)}


async def end_jobs(client: KubeClient, entries: Iterable[HookStatus], *, uid: str) -> int:
    """End and delete the Jobs of these hooks, and return how many; what has ended and is kept for good stays.

    Raises:
        DeployFailed: the target did not answer.
    """
    count = 0
    for entry in entries:
        job = await find_job(client, entry.job) if entry.job else None
        if job is not None and is_of(job, uid):
            kept = policy_of(job) == NEVER and end_of(job) is not None
            await let_go(client, job, delete=not kept)
            count += not kept
    return count
