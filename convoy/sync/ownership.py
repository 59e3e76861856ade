"""The worker's own index of all inventories: which Release has which object of which target (D14).

A lookup must cost no request, since a sync makes one for each of its objects. A lookup is only worth
something once the index has seen the asker's own write: from then on it has seen every earlier one too,
since a watch keeps order. Two Clusters may be one API server, so a place begins with the target's UID and
not with a Cluster's name.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from convoy.api.objects import Manifest, ObjectKey
from convoy.kube.client import KubeClient
from convoy.kube.reflector import Change, Reflector
from convoy.kube.resources import INVENTORIES
from convoy.policy.trigger import health_digest
from convoy.sync.claims import Hold, Holder, Lookup
from convoy.sync.inventory import members_of
from convoy.sync.ledger import Ledger

Place = tuple[str, ObjectKey]
"""Target UID and object."""

SEEN_WITHIN = 30.0
"""Seconds to wait for an own write to come back through the watch; it takes milliseconds."""


class NotSeen(Exception):
    """The index did not see a write in time: its watch is broken, so nothing may be decided."""


@dataclass(frozen=True, slots=True)
class HealthMark:
    """What the inventory's health data says, as short as it can be said."""

    digest: str = ""
    """As the watcher compares it; empty where nothing is known."""
    render_ref: str = ""
    phase: str = ""
    healthy_at: str = ""


@dataclass(frozen=True, slots=True)
class Held:
    """What one inventory says, place by place: all that is kept of it in memory."""

    release: str
    """`namespace/name`."""
    places: Mapping[Place, Holder]
    epoch: str
    """The attempt that wrote it."""
    version: int
    """Its resourceVersion."""
    health: HealthMark


def held(inventory: Manifest) -> Held:
    """Project an inventory for the index."""
    metadata = inventory["metadata"]
    name = f"{metadata['namespace']}/{metadata['name']}"
    spec = inventory.get("spec") or {}
    target_uid = spec.get("targetUID", "")
    places = {(target_uid, key): holder for key, holder in _holders(name, spec)}
    version = int(metadata["resourceVersion"])
    return Held(name, places, epoch=spec.get("epoch", ""), version=version, health=health_mark(inventory))


def health_mark(inventory: Manifest) -> HealthMark:
    """Cut an inventory's health data down."""
    health = (inventory.get("status") or {}).get("health") or {}
    return HealthMark(
        digest=health_digest(inventory),
        render_ref=health.get("renderRef") or "",
        phase=health.get("phase") or "",
        healthy_at=health.get("healthyAt") or "",
    )


class OwnershipIndex:
    """Who holds which place. `on_event` is the event handler of the reflector over inventories.

    `on_free` is called with the `namespace/name` of each Release that claims a place which another one has
    just let go: that change ends its `WaitingForOwner`.
    """

    def __init__(self, *, on_free: Callable[[str], None] | None = None) -> None:
        self._on_free = on_free
        self._holders: dict[Place, dict[str, Holder]] = {}
        self._writers: dict[str, tuple[str, int]] = {}
        self._changed = asyncio.Event()

    def on_event(self, change: Change[Held]) -> None:
        """Take in the new state of an inventory, or forget a deleted one."""
        now: Mapping[Place, Holder] = {} if change.type == "DELETED" else change.value.places
        before = change.previous.places if change.previous is not None else {}
        release = change.value.release
        if change.type == "DELETED":
            self._writers.pop(release, None)
        else:
            self._writers[release] = (change.value.epoch, change.value.version)
        for place in before:
            if place not in now:
                self._forget(place, release)
        for place, holder in now.items():
            self._holders.setdefault(place, {})[release] = holder
        if self._on_free is not None:
            for claimant in self._freed(release, before, now):
                self._on_free(claimant)
        self._changed.set()
        self._changed = asyncio.Event()

    def lookup(self, target_uid: str, *, release: str) -> Lookup:
        """Return the lookup of one Release on one target, on the index as it is at each call."""

        def others(key: ObjectKey) -> tuple[Holder, ...]:
            holders = self._holders.get((target_uid, key))
            if not holders:
                return ()
            return tuple(holder for name, holder in holders.items() if name != release)

        return others

    def is_overtaken(self, release: str, *, epoch: str, since: str) -> bool:
        """Return whether another attempt than `epoch` wrote the inventory of a Release after its version
        `since`."""
        writer, version = self._writers.get(release, (epoch, 0))
        return writer != epoch and version > int(since or 0)

    def claimants_of_free(self) -> set[str]:
        """Return the Releases that claim a place which nobody has: after a start, some may wait for no
        news."""
        return {
            holder.release
            for holders in self._holders.values()
            if all(each.hold is Hold.CLAIMED for each in holders.values())
            for holder in holders.values()
        }

    async def change(self, *, timeout: float) -> None:
        """Return at the next change of any inventory, or after `timeout` seconds."""
        event = self._changed
        try:
            async with asyncio.timeout(timeout):
                await event.wait()
        except TimeoutError:
            return

    def _forget(self, place: Place, release: str) -> None:
        holders = self._holders[place]
        del holders[release]
        if not holders:
            del self._holders[place]

    def _freed(self, release: str, before: Mapping[Place, Holder], now: Mapping[Place, Holder]) -> set[str]:
        return {
            other.release
            for place, holder in before.items()
            if holder.hold is not Hold.CLAIMED and (place not in now or now[place].hold is Hold.CLAIMED)
            for other in self._holders.get(place, {}).values()
            if other.release != release and other.hold is Hold.CLAIMED
        }


class Ownership:
    """The index together with the reflector that keeps it: what the sync asks."""

    def __init__(self, home: KubeClient, *, on_free: Callable[[str], None] | None = None) -> None:
        self.index = OwnershipIndex(on_free=on_free)
        self._reflector = Reflector(home, INVENTORIES, project=held, on_event=self.index.on_event)

    async def run(self) -> None:
        """Keep the index true. Ends by cancellation only; a worker runs it as a task of its own."""
        await self._reflector.run()

    async def synced(self) -> None:
        """Wait until the index knows all inventories."""
        await self._reflector.synced()

    def health(self, namespace: str, name: str) -> HealthMark:
        """Return what was known last of a Release's health; a moment behind what others have written."""
        found = self._reflector.get(namespace, name)
        return found.health if found is not None else HealthMark()

    def overtook(self, ledger: Ledger) -> bool:
        """Return whether another attempt has taken an inventory over, as far as the index has seen.

        It costs no request, so it can be asked before each one. A run that was reset, terminated or cancelled by
        hand is followed by the next one at once, while its own attempt learns of it with a heartbeat only,
        seconds later (design 04, rule 11).
        """
        return self.index.is_overtaken(ledger.name, epoch=ledger.epoch, since=ledger.resource_version)

    async def as_of(self, resource_version: str) -> OwnershipIndex:
        """Return the index once it has seen the inventory write that answered with this version.

        Raises:
            NotSeen: it has not within `SEEN_WITHIN` seconds.
        """
        try:
            await self._reflector.wait_until_seen(resource_version, timeout=SEEN_WITHIN)
        except TimeoutError:
            raise NotSeen(
                f"the watch of inventories did not show version {resource_version} within {SEEN_WITHIN:g} s"
            ) from None
        return self.index


def _holders(name: str, spec: Mapping[str, Any]) -> Iterator[tuple[ObjectKey, Holder]]:
    # Straight from the stored groups, since every write of a large inventory comes by here in each worker; and one
    # holder for thousands of keys, so that the index of a large installation stays small.
    # Later ones win: a key that is recorded counts as recorded, also if it is claimed as well.
    for field in ("claims", "planned", "objects"):
        for group in spec.get(field) or ():
            version = group.get("recordedAt", "")
            if field == "claims":
                holder = Holder(name, Hold.CLAIMED)
            elif field == "planned" and not version:
                holder = Holder(name, Hold.PLANNED)
            else:
                holder = Holder(name, Hold.RECORDED, int(version) if version.isdecimal() else 0)
            for key, _ in members_of(group):
                yield key, holder
