"""Which renders of a Release can still be named: by `?render=` and by a pin."""

from __future__ import annotations

from convoy.api.release import Release
from convoy.kube.errors import Cause
from convoy.server.call import Call
from convoy.server.refusals import NotFound


async def stored_refs(call: Call, release: Release) -> list[str]:
    """Return the renders that were applied and that the render store has, newest first."""
    refs = dict.fromkeys(entry.render_ref for entry in release.status.renders)
    return [ref for ref in refs if await call.services.renders.is_published(release.metadata.uid, ref)]


async def unknown_render(call: Call, release: Release, ref: str) -> NotFound:
    """Return the refusal of a render that is not kept, with those that are."""
    stored = await stored_refs(call, release)
    told = {entry.render_ref: entry for entry in reversed(release.status.renders)}
    causes = tuple(
        Cause(each, "KnownRender", f"{told[each].revision or ''}, applied at {told[each].applied_at or '?'}")
        for each in stored
    )
    known = f"known: {', '.join(stored)}" if stored else "it has none"
    return NotFound(
        f"the render store has no render {ref} of Release {call.namespace}/{call.name}; {known}",
        name=call.name,
        causes=causes,
    )
