"""`pin`: hold a Release on one stored render, or let it go."""

from __future__ import annotations

import re

from convoy.api.release import Pin
from convoy.api.release_status import RENDER_REF
from convoy.server.answers import ReleasePin
from convoy.server.call import Call
from convoy.server.content import expect
from convoy.server.known_renders import unknown_render
from convoy.server.refusals import Invalid
from convoy.store.renders import RenderMissing


async def read_pin(call: Call) -> ReleasePin:
    """Tell the pinned render."""
    release = await call.release()
    ref = release.pin.render_ref if release.pin is not None else ""
    return ReleasePin(metadata=call.metadata(release), render_ref=ref)


async def write_pin(call: Call) -> ReleasePin:
    """Pin a render that the store has, and request a sync.

    Raises:
        BadRequest, Invalid: the body is none of a pin, or names no ref.
        NotFound: the render store has no such render.
        ConvoyError: the spec makes no sense, or the store failed.
        ApiError: the Release cannot be read or written.
    """
    precondition = expect(call.body, kind="ReleasePin", fields=("renderRef",))
    ref = call.body["renderRef"]
    if not isinstance(ref, str) or not re.fullmatch(RENDER_REF, ref):
        raise Invalid("renderRef: expected sha256: and 64 hexadecimal digits; DELETE removes a pin")
    release = await call.release()
    pin = Pin(render_ref=ref)
    try:
        await call.services.renders.load_published(release.metadata.uid, ref)
    except RenderMissing:
        raise await unknown_render(call, release, ref) from None
    requested_at = await call.write(release.metadata.uid, {"pin": pin.tree()}, precondition=precondition)
    return ReleasePin(metadata=call.metadata(), render_ref=ref, requested_at=requested_at)


async def delete_pin(call: Call) -> ReleasePin:
    """Remove the pin and request a sync; without a pin nothing is written.

    The Release is read as it stands: a pin must go also where the spec makes no sense.
    """
    tree = await call.tree()
    if tree.get("pin") is None:
        return ReleasePin(metadata=call.metadata())
    requested_at = await call.write(tree["metadata"]["uid"], {"pin": None})
    return ReleasePin(metadata=call.metadata(), requested_at=requested_at)
