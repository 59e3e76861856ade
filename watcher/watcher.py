"""From the events of Releases and inventories to signals (`reference/sync-policy`, What starts a reconcile).

Nothing is remembered that matters: what a Release has seen stands in its `status.handled`, so after a restart, a
relist or with two watchers at once the comparison finds the same. Signals are written so that a second one is no harm.
"""

from __future__ import annotations

import asyncio

from activities.signals import Signals
from convoy.api.names import ABANDON
from convoy.kube.client import KubeClient
from convoy.kube.reflector import Change, Reflector
from convoy.kube.resources import INVENTORIES, RELEASES
from convoy.policy.trigger import Trigger, reasons_to_sync, seen
from convoy.policy.wave_index import WaveIndex
from convoy.sync.ownership import OwnershipIndex
from watcher.coalesce import Coalescer
from watcher.views import InventoryView, ReleaseView, view_inventory, view_release
from workflows.contract import ReleaseId, SyncRequest


class Watcher:
    """Watches one API server and signals to one Temporal namespace."""

    def __init__(self, home: KubeClient, signals: Signals, *, sweep_seconds: float) -> None:
        """`sweep_seconds`: how often all Releases are compared anew, and missing Drift workflows started."""
        self._signals = signals
        self._sweep_seconds = sweep_seconds
        self._releases = Reflector(home, RELEASES, project=view_release, on_event=self._release_changed)
        self._inventories = Reflector(
            home, INVENTORIES, project=view_inventory, on_event=self._inventory_changed
        )
        self._ownership = OwnershipIndex(on_free=self._freed)
        self._marks = Coalescer(self._signal)
        self._waves = WaveIndex()
        self._wakes: set[ReleaseId] = set()
        self._drift_known: set[tuple[ReleaseId, str]] = set()

    async def run(self) -> None:
        """Watch and signal until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._releases.run())
            group.create_task(self._inventories.run())
            group.create_task(self._marks.run())
            group.create_task(self._sweep())

    # --- events only mark ---------------------------------------------------------------

    def _release_changed(self, change: Change[ReleaseView]) -> None:
        release, now, before = ReleaseId(change.namespace, change.name), change.value, change.previous
        gone = change.type == "DELETED"
        self._waves.change(before.release if before else None, None if gone else now.release)
        if gone:
            self._drift_known.discard((release, change.uid))
        self._marks.mark(release)
        if before is None or before.readiness != now.readiness or gone:
            for view in filter(None, (before, now)):
                for name in self._waves.higher(view.release):
                    self._marks.mark(ReleaseId(change.namespace, name))

    def _inventory_changed(self, change: Change[InventoryView]) -> None:
        previous = change.previous
        self._ownership.on_event(
            Change(
                change.type,
                change.namespace,
                change.name,
                change.uid,
                change.value.held,
                previous.held if previous else None,
            )
        )
        release = ReleaseId(change.namespace, change.name)
        if previous is None or change.value.health != previous.health:
            self._marks.mark(release)

    def _freed(self, claimant: str) -> None:
        namespace, _, name = claimant.partition("/")
        release = ReleaseId(namespace, name)
        self._wakes.add(release)
        self._marks.mark(release)

    # --- marks become signals -----------------------------------------------------------

    async def _signal(self, release: ReleaseId) -> None:
        view = self._releases.get(release.namespace, release.name)
        if view is None:
            # A sync that waits for an owner has nothing to wait for any more.
            await self._signals.wake(release, "")
            return
        uid = view.release.metadata.uid
        inventory = self._inventories.get(release.namespace, release.name)
        health = inventory.health if inventory is not None else ""
        now = seen(
            view.release, spec_hash=view.spec_hash, health=health, siblings=self._waves.lower(view.release)
        )
        reasons = reasons_to_sync(view.release, now)
        if reasons:
            await self._signals.sync(release, request_of(view, reasons[0]))
        if (release, uid) not in self._drift_known:
            # Its passes are for Sync to start: what it says at the end of each of its own outlives every watcher.
            await self._signals.ensure_drift(release, uid, view.interval)
            self._drift_known.add((release, uid))
        if release in self._wakes:
            await self._signals.wake(release, uid)
            self._wakes.discard(release)

    async def _sweep(self) -> None:
        """Find what was missed: also an owner that let go while nobody watched, or a Drift that was ended by hand."""
        await self._inventories.synced()
        while True:
            for claimant in self._ownership.claimants_of_free():
                self._freed(claimant)
            await asyncio.sleep(self._sweep_seconds)
            self._drift_known.clear()
            for view in self._releases.values():
                self._marks.mark(ReleaseId(view.release.metadata.namespace, view.release.metadata.name))


def request_of(view: ReleaseView, trigger: Trigger) -> SyncRequest:
    """Return what Sync is asked for; its id tells it from the next one, and is empty where each is news."""
    metadata = view.release.metadata
    match trigger:
        case Trigger.SYNC_REQUESTED | Trigger.HEALTH_REACHED | Trigger.SELF_HEAL:
            # The same id as that of whoever wrote the annotation and signalled too: the echo is no second request.
            request_id = seen(view.release, spec_hash=view.spec_hash).sync_requested_at or ""
        case Trigger.CREATED | Trigger.SPEC_CHANGED | Trigger.DELETED:
            request_id = f"{trigger}/{metadata.uid}/{metadata.generation}/{metadata.deletion_timestamp or ''}"
            if trigger is Trigger.DELETED and ABANDON in metadata.annotations:
                request_id += f"/{metadata.annotations[ABANDON]}"  # may come while the teardown runs already
        case _:
            request_id = ""
    return SyncRequest(trigger=trigger, uid=metadata.uid, id=request_id)
