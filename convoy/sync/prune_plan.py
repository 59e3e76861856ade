"""What a prune deletes and what it leaves, with a reason each: pure, so that a preview shows what a sync
does.

Deleting what is not ours cannot be undone, so every doubt keeps the object (D14, D17, D18). Only what the
inventory names is ever looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from convoy.api.names import HELM_RESOURCE_POLICY, HELM_RESOURCE_POLICY_KEEP, PRUNE, PRUNE_DISABLED
from convoy.api.objects import ObjectKey
from convoy.sync.claims import Hold, Holder
from convoy.sync.inventory import Entry, Record
from convoy.sync.live import Live

PROTECTED = frozenset({("", "Namespace"), ("apiextensions.k8s.io", "CustomResourceDefinition")})
"""Group and kind of what takes objects with it that no Release applied (D18)."""


class Action(Enum):
    """What happens to a record and its object. The record goes in every case, once the prune is complete."""

    DELETE = "delete"
    KEEP = "keep"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Decision:
    """One line of a prune plan."""

    key: ObjectKey
    action: Action
    reason: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A record that the render lacks."""

    entry: Entry
    planned: bool
    """True if it was planned and never recorded as applied (D13)."""


def candidates(record: Record, wanted: Collection[ObjectKey]) -> list[Candidate]:
    """Return the records that the render lacks, in prune order: waves descending, each in reverse (D19)."""
    applied = {entry.key for entry in record.objects}
    found = [Candidate(entry, planned=False) for entry in record.objects]
    found += [Candidate(entry, planned=True) for entry in record.planned if entry.key not in applied]
    found = [each for each in found if each.entry.key not in wanted]
    found.sort(key=lambda each: each.entry.wave)
    found.reverse()
    return found


def kept_unseen(key: ObjectKey, holders: Sequence[Holder]) -> Decision | None:
    """Return the decision that needs no look at the live object, if there is one."""
    if (key.group, key.kind) in PROTECTED:
        return Decision(key, Action.KEEP, f"a {key.kind} is never pruned")
    for holder in holders:
        verb = "claims" if holder.hold is Hold.CLAIMED else "has"
        return Decision(key, Action.KEEP, f"the Release {holder.release} {verb} it")
    return None


def decide(
    candidate: Candidate, live: Live | None, holders: Sequence[Holder], applied_uids: Collection[str]
) -> Decision:
    """Decide about one record (D17).

    `live` is None where the object or its kind is absent, `holders` are the other Releases that have or
    claim the key, `applied_uids` are the UIDs of what this sync applied.
    """
    entry, key = candidate.entry, candidate.entry.key
    unseen = kept_unseen(key, holders)
    if unseen is not None:
        return unseen
    if live is None:
        return Decision(key, Action.ABSENT, "it is absent")
    if live.uid in applied_uids:
        return Decision(key, Action.KEEP, "the render has the same object under another group")
    if entry.uid and entry.uid != live.uid:
        return Decision(key, Action.KEEP, "somebody else made it anew")
    if (candidate.planned or not entry.uid) and not live.applied_by_convoy:
        return Decision(key, Action.KEEP, "it was planned but never applied")
    if live.annotations.get(PRUNE) == PRUNE_DISABLED:
        return Decision(key, Action.KEEP, f"annotated {PRUNE}: {PRUNE_DISABLED}")
    # As Helm reads it: ` Keep` keeps too.
    if live.annotations.get(HELM_RESOURCE_POLICY, "").strip().lower() == HELM_RESOURCE_POLICY_KEEP:
        return Decision(key, Action.KEEP, f"annotated {HELM_RESOURCE_POLICY}: {HELM_RESOURCE_POLICY_KEEP}")
    return Decision(key, Action.DELETE, "the render no longer contains it")


def exceeds(decisions: Iterable[Decision], record: Record, max_percent: int) -> tuple[int, int] | None:
    """Return how many deletes of how many records, if that is more than `prune.maxPercent` allows (D21)."""
    total = len(record.held())
    deletes = sum(decision.action is Action.DELETE for decision in decisions)
    return (deletes, total) if deletes * 100 > max_percent * total else None
