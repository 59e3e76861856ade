"""The ledger of one Release as plain data: what is applied, what is about to be, what another Release has.

The inventory decides what a prune may delete, so it must cover every object that was applied and not
deleted, at any moment and across any crash (`reference/apply-and-prune`, Inventory; D13). Every step of its
life is a pure function here. It is stored in groups, since ten thousand objects must fit into one object of
etcd; a group holds neighbours of equal wave, kind, namespace and `recordedAt`, so that the order of the
apply survives.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, NamedTuple

from convoy.api.objects import ObjectKey


class Entry(NamedTuple):
    """One object in the ledger; a tuple, since each write of a large inventory makes and compares all of them."""

    key: ObjectKey
    wave: int = 0
    uid: str = ""
    """UID of the live object; empty where it is not known (a planned object that did not exist)."""
    recorded_at: str = ""
    """resourceVersion of the write that recorded the key first; it decides between two Releases (D14).
    Empty until the write after that one, since a write cannot hold its own version: such a key was never
    looked up nor applied."""
    sent: bool = False
    """Of a planned key: a request for it may have been sent, so it may be applied. Until then the key is held
    only as long as its pass runs."""


@dataclass(frozen=True, slots=True)
class Record:
    """The spec of a ReleaseInventory."""

    cluster: str = ""
    target_uid: str = ""
    render_ref: str = ""
    """The render whose sync was completed last; changes in step 6 only."""
    epoch: str = ""
    """The attempt that may write (design 04, rule 11)."""
    objects: tuple[Entry, ...] = ()
    """Applied, in the order of the apply."""
    planned: tuple[Entry, ...] = ()
    """About to be applied for the first time (D13)."""
    claims: tuple[Entry, ...] = ()
    """Wanted, writable, but another Release has them (D14)."""

    def held(self) -> dict[ObjectKey, Entry]:
        """Return all that this Release has, planned or applied, by key."""
        return {entry.key: entry for entry in (*self.planned, *self.objects)}

    def tree(self) -> dict[str, Any]:
        """Return the spec as it is stored."""
        return {
            "clusterRef": {"name": self.cluster},
            "targetUID": self.target_uid,
            "renderRef": self.render_ref,
            "epoch": self.epoch,
            "objects": group(self.objects),
            "planned": group(self.planned),
            "claims": group(self.claims),
        }

    @staticmethod
    def from_tree(spec: Mapping[str, Any]) -> Record:
        """Read a stored spec; what is absent counts as empty."""
        return Record(
            cluster=(spec.get("clusterRef") or {}).get("name", ""),
            target_uid=spec.get("targetUID", ""),
            render_ref=spec.get("renderRef", ""),
            epoch=spec.get("epoch", ""),
            objects=ungroup(spec.get("objects") or ()),
            planned=ungroup(spec.get("planned") or ()),
            claims=ungroup(spec.get("claims") or ()),
        )


def group(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    """Put neighbours that differ in name and UID only into one group each."""
    return [
        {
            "wave": wave,
            "group": api_group,
            "kind": kind,
            "namespace": namespace,
            "recordedAt": recorded_at,
            **({"sent": True} if sent else {}),
            "items": [_item(entry) for entry in members],
        }
        for (wave, api_group, kind, namespace, recorded_at, sent), members in groupby(entries, key=_group_key)
    ]


def ungroup(groups: Iterable[Mapping[str, Any]]) -> tuple[Entry, ...]:
    """Return the entries of stored groups, in order."""
    return tuple(
        Entry(
            key, each.get("wave", 0), item.get("uid", ""), each.get("recordedAt", ""), each.get("sent", False)
        )
        for each in groups
        for key, item in members_of(each)
    )


def members_of(group: Mapping[str, Any]) -> Iterator[tuple[ObjectKey, Mapping[str, Any]]]:
    """Yield the key and the item of each object of a stored group."""
    shared = group.get("group", ""), group.get("kind", ""), group.get("namespace", "")
    for item in group.get("items") or ():
        yield ObjectKey(*shared, item.get("name", "")), item


def plan(record: Record, wanted: Sequence[Entry]) -> Record:
    """Plan the keys of a render that `objects` lacks, and give up all claims (D13, D14).

    A key that an earlier sync planned stays where the render still has it or where it may be applied already; one
    without `recorded_at` was never looked up, so it is planned anew.
    """
    keys = {entry.key for entry in wanted}
    kept = tuple(entry for entry in record.planned if entry.sent or (entry.recorded_at and entry.key in keys))
    known = {entry.key for entry in (*record.objects, *kept)}
    new = tuple(Entry(entry.key, entry.wave) for entry in wanted if entry.key not in known)
    return replace(record, planned=kept + new, claims=())


def stamp(record: Record, resource_version: str) -> Record:
    """Write down which version recorded the keys that the last write planned (D14)."""
    return replace(
        record,
        planned=tuple(
            entry if entry.recorded_at else entry._replace(recorded_at=resource_version)
            for entry in record.planned
        ),
    )


def sending(record: Record, keys: Collection[ObjectKey], seen: Mapping[ObjectKey, str]) -> Record:
    """Mark planned keys before their first request: with the UIDs of the objects that are there already (D13).

    The UID of an applied object that is no longer there goes: whether the next one of that name was made by convoy
    cannot be told by it.
    """
    return replace(
        record,
        objects=tuple(
            entry._replace(uid="") if entry.key in keys and entry.uid != seen.get(entry.key) else entry
            for entry in record.objects
        ),
        planned=tuple(
            entry._replace(uid=seen.get(entry.key, entry.uid), sent=True) if entry.key in keys else entry
            for entry in record.planned
        ),
    )


def not_sent(record: Record, keys: Collection[ObjectKey]) -> Record:
    """Take the mark back from planned keys that are surely not applied: never sent, or refused."""
    return replace(
        record,
        planned=tuple(entry._replace(sent=False) if entry.key in keys else entry for entry in record.planned),
    )


def union(record: Record, applied: Iterable[Entry]) -> Record:
    """Return the union of the record and the objects applied so far (`reference/apply-and-prune`,
    Inventory)."""
    new = {entry.key: entry for entry in applied}
    planned = {entry.key: entry for entry in record.planned}
    merged = [
        entry._replace(wave=found.wave, uid=found.uid) if (found := new.pop(entry.key, None)) else entry
        for entry in record.objects
    ]
    for entry in new.values():
        before = planned.get(entry.key)
        merged.append(entry._replace(recorded_at=before.recorded_at) if before else entry)
    known = {entry.key for entry in merged}
    return replace(
        record,
        objects=tuple(merged),
        planned=tuple(entry for entry in record.planned if entry.key not in known),
    )


def exact(record: Record, wanted: Iterable[Entry], *, render_ref: str) -> Record:
    """Return the record of exactly this render, in its order: nothing planned, nothing claimed (step 6).

    Raises:
        KeyError: an object of the render was not recorded as applied.
    """
    have = {entry.key: entry for entry in record.objects}
    return replace(
        record,
        render_ref=render_ref,
        objects=tuple(have[entry.key]._replace(wave=entry.wave) for entry in wanted),
        planned=(),
        claims=(),
    )


def withdraw(record: Record) -> Record:
    """Take back all that is wanted and surely not applied: planned keys that were not sent, and claims (D13, D14)."""
    return replace(record, planned=tuple(entry for entry in record.planned if entry.sent), claims=())


def drop(record: Record, keys: Collection[ObjectKey]) -> Record:
    """Forget records, whatever the reason; the objects stay."""
    return replace(
        record,
        objects=tuple(entry for entry in record.objects if entry.key not in keys),
        planned=tuple(entry for entry in record.planned if entry.key not in keys),
    )


def _group_key(entry: Entry) -> tuple[int, str, str, str, str, bool]:
    return entry.wave, entry.key.group, entry.key.kind, entry.key.namespace, entry.recorded_at, entry.sent


def _item(entry: Entry) -> dict[str, str]:
    return {"name": entry.key.name, "uid": entry.uid} if entry.uid else {"name": entry.key.name}
