"""What the status remembers of the renders that were applied: step 8 of a sync (`reference/apply-and-prune`).

A render that is applied is `unrecorded` while its postSync hooks run. At their end, or where another render takes its
place before, it goes on top of the history, and `lastSuccessful` tells of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from convoy.api.objects import Manifest
from convoy.api.release import HISTORY_LIMIT
from convoy.health.rollout import RolloutPhase
from convoy.sync.attempt import Attempt
from convoy.sync.desired_order import Origin


def with_applied(tree: Manifest, own: Manifest, done: Attempt, *, time: str) -> Manifest:
    """Return the status `own` of the Release `tree` once an attempt has applied its render.

    An attempt at the same render before, whose hooks still run, has brought it: when, why and for whom stays.
    """
    own = make_way(tree, own, done.render_ref)
    news = {"revision": done.revision, "objects": done.objects}
    brought = own.get("unrecorded")
    if brought is not None:
        return own | {"unrecorded": {**brought, **news, "appliedAgainAt": time}}
    desired = _desired(tree, own, done.render_ref)
    entry: Manifest = {"renderRef": done.render_ref, "appliedAt": time, "trigger": done.trigger}
    if desired is not Origin.FRESH:
        entry["desired"] = str(desired)
    return own | {"unrecorded": entry | news}


def make_way(tree: Manifest, own: Manifest, ref: str) -> Manifest:
    """Return the status as a sync of this render begins: no postSync hooks of another one are waited for any more."""
    before = own.get("unrecorded")
    return own if before is None or before["renderRef"] == ref else recorded(tree, own)


def recorded(tree: Manifest, own: Manifest) -> Manifest:
    """Return the status in which everything that is applied is recorded, and no more renders than the spec says.

    A render that was on top already gets no second entry: that one tells when and why it came, and `lastSuccessful`
    the latest apply.
    """
    rest = {name: value for name, value in own.items() if name != "unrecorded"}
    done = own.get("unrecorded")
    if done is None:
        return rest
    limit = (tree.get("spec") or {}).get("historyLimit", HISTORY_LIMIT)
    entry = {name: value for name, value in done.items() if name != "appliedAgainAt"}
    latest = {
        "renderRef": done["renderRef"],
        "revision": done["revision"],
        "appliedAt": done.get("appliedAgainAt", done["appliedAt"]),
    }
    history = [dict(each) for each in own.get("history") or ()]
    if history and history[0].get("renderRef") == done["renderRef"]:
        history[0] |= {"revision": done["revision"], "objects": done["objects"]}
        if "healthyAt" in done:
            history[0].setdefault("healthyAt", done["healthyAt"])
    else:
        history.insert(0, entry)
    return rest | {"lastSuccessful": latest, "history": history[:limit]}


def with_health(own: Manifest, ref: str, time: str) -> Manifest:
    """Return the status that remembers when the newest render became healthy, the first time only."""
    newest = own.get("unrecorded") or next(iter(own.get("history") or ()), None)
    if newest is None or newest.get("renderRef") != ref or newest.get("healthyAt"):
        return own
    noted = {**newest, "healthyAt": time}
    if "unrecorded" in own:
        return own | {"unrecorded": noted}
    return own | {"history": [noted, *own["history"][1:]]}


def _desired(tree: Manifest, own: Mapping[str, Any], ref: str) -> Origin:
    """Return where the render comes from that a Release has applied; a fresh one may be the pinned one too."""
    if (tree.get("pin") or {}).get("renderRef") == ref:
        return Origin.PIN
    rollout = own.get("rollout") or {}
    is_back = rollout.get("phase") == RolloutPhase.ROLLED_BACK and rollout.get("lastHealthyRenderRef") == ref
    return Origin.LAST_HEALTHY if is_back else Origin.FRESH
