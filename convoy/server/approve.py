"""`POST approve`: let a hook go on that waits for a person."""

from __future__ import annotations

import asyncio
import time
from typing import Final

from convoy.api.release import Release
from convoy.api.release_status import HookStatus
from convoy.server.answers import ReleaseApproval
from convoy.server.call import Call
from convoy.server.refusals import BadRequest, Conflict, NotFound

SETTLING_SECONDS: Final = 5.0


async def approve(call: Call) -> ReleaseApproval:
    """Approve the hook that `?hook=` names, as the user of the call, and answer once that stands in status.hooks.

    Raises:
        NotFound: the Release has no approval of this name.
        Conflict: it does not wait.
        Unavailable: the durable side does not answer.
    """
    call.refuse_dry_run()
    name = call.query.get("hook", "")
    if not name:
        raise BadRequest("parameter hook: expected the name of a hook")
    release = await call.release()
    _check_waits(release, name)
    await _approve(call, name)
    return ReleaseApproval(metadata=call.metadata(), hook=name, approved_by=call.user.name)


async def _approve(call: Call, hook: str) -> None:
    """Approve; the sync may be about to wait: the status tells of the hook before the sync has come to rest."""
    deadline = time.monotonic() + SETTLING_SECONDS
    while True:
        try:
            return await call.services.workflows.approve(
                call.namespace, call.name, hook=hook, user=call.user.name
            )
        except Conflict:
            if time.monotonic() > deadline:
                raise
        await asyncio.sleep(SETTLING_SECONDS / 20)


def _check_waits(release: Release, name: str) -> None:
    """Refuse what no sync can be waiting for, by the words of the Release itself."""
    metadata = release.metadata
    subject = f"Release {metadata.namespace}/{metadata.name}"
    hooks = (*release.lifecycle.pre_sync, *release.lifecycle.post_sync)
    approvals = [hook.name for hook in hooks if hook.approval is not None]
    if name not in approvals:
        known = ", ".join(approvals) or "none"
        raise NotFound(f"{subject} has no approval hook of this name; it has {known}", name=metadata.name)
    entry = next((entry for entry in release.status.hooks if entry.name == name), None)
    if entry is None or entry.phase != "Pending":
        raise Conflict(f"the hook {name} of {subject} does not wait{_told(entry)}", name=metadata.name)


def _told(entry: HookStatus | None) -> str:
    if entry is None:
        return ": no sync has come to it yet"
    by = f" by {entry.approved_by}" if entry.approved_by else ""
    return f": it is {entry.phase}{by} since {entry.finished_at or entry.started_at}"
