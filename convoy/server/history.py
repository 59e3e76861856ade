"""`GET history`: what was applied, and what each render changed."""

from __future__ import annotations

import asyncio
from typing import Final

from msgspec import UNSET, UnsetType

from convoy.api.release_status import HistoryEntry, Rollout
from convoy.api.rendered import Render
from convoy.drift.changes import field_changes
from convoy.server.answers import ChangedObject, HistoryItem, ObjectRef, ReleaseHistory, RenderChanges
from convoy.server.call import Call
from convoy.server.known_renders import stored_refs
from convoy.store.renders import RenderMissing

_FIELDS: Final = 50
"""Fields told of one object."""


async def history(call: Call) -> ReleaseHistory:
    """Tell the history, each entry with what differs from the one before it in time."""
    release = await call.release()
    entries = release.status.history
    stored = set(await stored_refs(call, release))
    pinned = release.pin.render_ref if release.pin is not None else None
    renders = call.services.renders
    items: list[HistoryItem] = []
    newer: tuple[HistoryEntry, Render | None] | None = None

    def add(entry: HistoryEntry, changes: RenderChanges | UnsetType) -> None:
        items.append(
            HistoryItem(
                render_ref=entry.render_ref,
                stored=entry.render_ref in stored,
                pinned=entry.render_ref == pinned,
                revision=entry.revision or UNSET,
                applied_at=entry.applied_at or UNSET,
                healthy_at=entry.healthy_at or UNSET,
                rollout=_phase(release.status.rollout, entry),
                trigger=entry.trigger or UNSET,
                desired=entry.desired or UNSET,
                objects=UNSET if entry.objects is None else entry.objects,
                changes=changes,
            )
        )

    # Two renders at a time: ten large ones together would not fit.
    for entry in entries:
        try:
            render = await renders.load(release.metadata.uid, entry.render_ref)
        except RenderMissing:
            render = None
        if newer is not None:
            add(newer[0], await _changes(render, newer[1]))
        newer = (entry, render)
    if newer is not None:
        add(newer[0], UNSET)
    return ReleaseHistory(metadata=call.metadata(), items=tuple(items))


def _phase(rollout: Rollout | None, entry: HistoryEntry) -> str | UnsetType:
    """Return how the rollout stands, of the render that is or was rolled out last."""
    if rollout is None or rollout.render_ref != entry.render_ref:
        return UNSET
    return rollout.phase or UNSET


async def _changes(older: Render | None, newer: Render | None) -> RenderChanges | UnsetType:
    if older is None or newer is None:
        return UNSET
    return await asyncio.to_thread(changes_between, older, newer)


def changes_between(older: Render, newer: Render) -> RenderChanges:
    """Return what a render changed; the JSON pointers, and no value."""
    before = {item.key: item for item in older.objects}
    after = {item.key: item for item in newer.objects}
    changed = []
    for key, item in after.items():
        if key in before and before[key].manifest != item.manifest:
            found = field_changes(live=before[key].manifest, desired=item.manifest)
            pointers = tuple(change.pointer for change in found[:_FIELDS])
            changed.append(ChangedObject.of(key, fields=pointers))
    return RenderChanges(
        added=tuple(ObjectRef.of(key) for key in after if key not in before),
        removed=tuple(ObjectRef.of(key) for key in before if key not in after),
        changed=tuple(changed),
    )
