"""`POST sync`: the annotation, and nothing else. The watcher sees it and signals (D23)."""

from __future__ import annotations

from datetime import UTC, datetime

from convoy.kube.annotate import request_sync
from convoy.server.answers import ReleaseSync
from convoy.server.call import Call


async def sync(call: Call) -> ReleaseSync:
    """Request a sync, forced with `?force=true` (`reference/sync-policy`, The /sync request)."""
    forced = call.flag("force")
    requested_at = await request_sync(
        call.services.home,
        call.namespace,
        call.name,
        now=datetime.now(UTC),
        force=forced,
        dry_run=call.dry_run,
    )
    return ReleaseSync(metadata=call.metadata(), requested_at=requested_at, forced=forced)
