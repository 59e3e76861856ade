"""`POST approve`: let a hook go on that waits for a person.

No sync waits for an approval yet (`convoy.api.unsupported` answers hooks), so there is never one to let go on.
"""

from __future__ import annotations

from typing import NoReturn

from convoy.server.call import Call
from convoy.server.refusals import BadRequest, Conflict, NotFound


async def approve(call: Call) -> NoReturn:
    """Approve the hook that `?hook=` names, as the user of the call.

    Raises:
        NotFound: the Release has no approval of this name.
        Conflict: it does not wait.
    """
    call.refuse_dry_run()
    name = call.query.get("hook", "")
    if not name:
        raise BadRequest("parameter hook: expected the name of a hook")
    lifecycle = (await call.release()).lifecycle
    approvals = [
        hook.name for hook in (*lifecycle.pre_sync, *lifecycle.post_sync) if hook.approval is not None
    ]
    if name not in approvals:
        raise NotFound(
            f"Release {call.namespace}/{call.name} has no approval hook of this name; "
            f"it has {', '.join(approvals) or 'none'}",
            name=call.name,
        )
    raise Conflict(f"the hook {name} of Release {call.namespace}/{call.name} does not wait", name=call.name)
