"""One object under two API groups: an Event of the core group is one of events.k8s.io as well.

Inventories name objects by group, and so does the index of them. So whoever wants to know whether another Release has
an object must ask by its other names too; the UID tells whether a namesake is the same object (D17).
"""

from __future__ import annotations

from convoy.api.objects import ObjectKey
from convoy.kube.targets import Target
from convoy.sync.claims import Holder, Lookup
from convoy.sync.live import Live, find_live


async def holders_of_twin(target: Target, key: ObjectKey, live: Live, lookup: Lookup) -> list[Holder]:
    """Return the other Releases that have or claim a live object by the name that another group gives it.

    It costs a request only where another Release has a namesake.

    Raises:
        ApiError: the namesake cannot be read.
    """
    for group in await target.discovery.groups_of(key.kind):
        twin = key._replace(group=group)
        holders = lookup(twin) if twin != key else ()
        if holders:
            found = await find_live(target, twin)
            if found is not None and found.uid == live.uid:
                return list(holders)
    return []
