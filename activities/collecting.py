"""Space in the render store: what a Release no longer needs goes after a sync, and all of it with the Release.

Neither may fail or hold up what it belongs to: a store that does not answer costs space, and the log says so.
"""

from __future__ import annotations

import asyncio

import structlog

from activities.services import Services
from convoy.api.errors import DeployFailed
from convoy.api.release import Release
from convoy.sync.desired_order import needed_renders

SECONDS = 10.0
"""What one collection may take; the next one goes on where it ended."""

log = structlog.get_logger(__name__)


async def collect_renders(services: Services, release: Release, *, changed: bool) -> None:
    """Delete the renders that a Release which has just been applied no longer needs."""
    collector, uid = services.collector, release.metadata.uid
    if collector is None or not (changed or collector.is_due(uid)):
        return
    try:
        async with asyncio.timeout(SECONDS):
            await collector.collect(uid, needed_renders(release))
    except (DeployFailed, TimeoutError) as error:
        log.warning("renders-not-collected", uid=uid, error=str(error) or "no time left")


async def forget_renders(services: Services, uid: str) -> None:
    """Delete all renders of a Release that is going."""
    if services.collector is None:
        return
    try:
        async with asyncio.timeout(SECONDS):
            await services.collector.forget(uid)
    except (DeployFailed, TimeoutError) as error:
        log.warning("renders-left-behind", uid=uid, error=str(error) or "no time left")
