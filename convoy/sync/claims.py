"""Which of two Releases has an object: the rule alone, on plain data (D14).

Both would use the field manager `convoy`, so each apply would silently strip the other's fields. A Release
therefore records its keys first, waits until it sees its own record, and only then looks at the others'. Of
two records the one with the lower resourceVersion wins. Whoever is later has seen the earlier one, so two
can never both win.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from convoy.api.objects import ObjectKey
from convoy.sync.inventory import Entry, Record, drop


class Hold(Enum):
    """How another Release's inventory names a key."""

    RECORDED = "recorded"
    """Applied, or planned with `recordedAt`."""
    PLANNED = "planned"
    """Planned a moment ago: its `recordedAt` follows with the next write."""
    CLAIMED = "claimed"
    """Wanted."""


@dataclass(frozen=True, slots=True)
class Holder:
    """Another Release, by what its inventory says about one key."""

    release: str
    """`namespace/name`."""
    hold: Hold
    recorded_at: int = 0
    """resourceVersion of the first record; only with `Hold.RECORDED`."""


Lookup = Callable[[ObjectKey], Sequence[Holder]]
"""Names the other Releases whose inventories hold a key, on the same target."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A key of the render that another Release has."""

    key: ObjectKey
    owner: str
    """`namespace/name` of the Release that has it."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the others' records say about this Release's render."""

    losses: tuple[Loss, ...] = ()
    undecided: tuple[Loss, ...] = ()
    """Keys that another Release planned at the same moment; decided when its `recordedAt` is there."""


def rule(record: Record, wanted: Iterable[Entry], lookup: Lookup) -> Ruling:
    """Decide each key of the render between this Release and the others."""
    held = record.held()
    applied = {entry.key for entry in record.objects}
    losses: list[Loss] = []
    undecided: list[Loss] = []
    for key in (entry.key for entry in wanted):
        mine = _version(held[key].recorded_at) if key in held else None
        for holder in lookup(key):
            if holder.hold is Hold.PLANNED and key not in applied:
                undecided.append(Loss(key, holder.release))
            elif holder.hold is Hold.RECORDED and (mine is None or holder.recorded_at < mine):
                losses.append(Loss(key, holder.release))
    return Ruling(tuple(losses), tuple(undecided))


def concede(
    record: Record, wanted: Iterable[Entry], lost: Iterable[ObjectKey], *, proved: Collection[ObjectKey]
) -> Record:
    """Turn every key that is new, or lost, into a claim: a Release that waits holds up nobody else.

    Only a key in `proved`, which this Release may write, becomes a claim: by a claim the owner gives it away.
    A key that may be applied already stays planned. A lost one cannot be: it was looked up before any apply, and an
    earlier record is earlier for ever.
    """
    gone = set(lost)
    kept = replace(
        record, planned=tuple(entry for entry in record.planned if entry.sent and entry.key not in gone)
    )
    have = kept.held()
    return replace(
        kept,
        claims=tuple(
            Entry(entry.key, entry.wave) for entry in wanted if entry.key not in have and entry.key in proved
        ),
    )


def give_up(record: Record, wanted: Iterable[Entry], lookup: Lookup) -> Record:
    """Drop records that another Release claims and the own render lacks, so that a swap cannot deadlock."""
    mine = {entry.key for entry in wanted}
    free = {
        key
        for key in record.held()
        if key not in mine and any(holder.hold is Hold.CLAIMED for holder in lookup(key))
    }
    return drop(record, free) if free else record


def _version(recorded_at: str) -> int:
    # A record without a version was not written by convoy's own steps; it counts as the oldest.
    return int(recorded_at) if recorded_at.isdecimal() else 0
