"""`POST check`: one drift pass now, on a worker (D37)."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from convoy.server.answers import ReleaseCheck
from convoy.server.call import Call, Checked


async def check(call: Call) -> ReleaseCheck:
    """Ask for a pass, wait for it, and tell what it found."""
    call.refuse_dry_run()
    metadata = (await call.tree())["metadata"]
    found = await call.services.workflows.check(call.namespace, call.name, metadata["uid"])
    return ReleaseCheck(
        metadata=call.metadata(),
        verdict=found.verdict,
        message=found.message,
        began_at=found.began_at,
        compared=found.compared,
        in_sync=found.in_sync,
        modified=found.modified,
        missing=found.missing,
        objects=await _drifted(call, found),
    )


async def _drifted(call: Call, found: Checked) -> tuple[dict[str, Any], ...] | UnsetType:
    if not found.changes:
        return ()
    data = await call.services.renders.load_blob(found.uid, found.changes)
    return UNSET if data is None else tuple(msgspec.json.decode(data, type=list[dict[str, Any]]))
