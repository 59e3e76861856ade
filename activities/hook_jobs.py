"""Ending runs of hooks that no sync asks for any more (D27), and with the Release all of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import structlog

from activities.context import this_release
from activities.own_release import write_release_status
from activities.services import Services
from convoy.api.errors import ClusterNotReady, DeployFailed
from convoy.api.names import ABANDON, MANAGER_PROGRESS
from convoy.api.objects import Manifest
from convoy.api.release import Release
from convoy.hooks.entries import read_entries, with_entries
from convoy.hooks.leftovers import as_ended, end_jobs, strays, superseded
from convoy.hooks.plan import hook_is_over
from convoy.kube.targets import Target
from convoy.sync.desired import Desired
from convoy.sync.interruptions import Fenced

log = structlog.get_logger(__name__)


async def end_unwanted(services: Services, release: Release, desired: Desired) -> None:
    """End the runs that no sync of this render asks for, and say so in the Release's status.

    No pass waits for it: what cannot be ended now is looked at again by the next one.
    """
    gone, late = strays(release, desired.render), superseded(release, desired.render)
    if not gone and not late:
        return
    uid = release.metadata.uid
    names = {entry.name for entry in gone}
    ended = [as_ended(entry, desired.render, datetime.now(UTC)) for entry in late if entry.name not in names]

    try:
        await end_jobs(desired.destination.target.client, [*gone, *late], uid=uid)
    except DeployFailed as error:
        log.warning("hook-jobs-not-ended", release=str(this_release()), error=error.message)
        return
    try:
        await write_release_status(
            services.home, uid, lambda tree: with_entries(tree, ended, drop=names), manager=MANAGER_PROGRESS
        )
    except Fenced:
        return  # one of them has its result by now, such as the word of a person


async def end_hooks(release: Release, tree: Manifest, connect: Callable[[], Awaitable[Target]]) -> None:
    """End the Jobs of a Release that is being deleted, with the finalizers that would keep them for ever.

    A target that is out of reach matters only where a run has no result yet; its Job would never go.

    Raises:
        ClusterNotReady, DeployFailed: it cannot be done now; the message says how to give it up.
    """
    entries = [entry for entry in read_entries(tree).values() if entry.job]
    if not entries:
        return
    try:
        target = await connect()
        await end_jobs(target.client, entries, uid=release.metadata.uid)
    except (ClusterNotReady, DeployFailed) as error:
        running = [entry.job for entry in entries if not hook_is_over(entry)]
        if not running or release.metadata.annotations.get(ABANDON) == "true":
            log.warning("hook-jobs-left-behind", release=str(this_release()), error=error.message)
            return
        jobs = ", ".join(map(str, running))
        raise type(error)(
            f"{error.message}\nThe Release is being deleted and waits until Job {jobs} of a hook is ended. "
            f"To give it up, annotate the Release with {ABANDON}=true"
        ) from error
