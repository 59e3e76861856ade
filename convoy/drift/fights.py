"""The fight detector (D32): somebody changes a field back as often as convoy heals it.

Healing goes on, since giving up would be drift that nobody sees; but a field healed 5 times within 10 passes
is worth an event that names the other side. The state crosses continue-as-new in a workflow, so it holds
digests of what was healed in the latest passes, bounded in both directions, and no value of any object.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from convoy.api.names import MANAGER
from convoy.api.objects import ObjectKey
from convoy.drift.owners import Owner

PASSES: Final = 10
HEALS: Final = 5
TRACKED: Final = 100
"""Fields followed in one pass, the first in render order: a fight over more shows in these as well."""


@dataclass(frozen=True, slots=True)
class Heal:
    """A changed field that a pass found and asked a sync to correct."""

    key: ObjectKey
    pointer: str
    owner: Owner | None


@dataclass(frozen=True, slots=True)
class Fight:
    """A field that convoy and somebody else keep changing; `message` is the event's (`FightDetected`)."""

    key: ObjectKey
    pointer: str
    message: str


@dataclass(frozen=True, slots=True)
class FightState:
    """What was healed in the latest passes, oldest first: digests of object and pointer."""

    passes: tuple[tuple[str, ...], ...] = ()


def detect_fights(state: FightState, heals: Sequence[Heal]) -> tuple[FightState, tuple[Fight, ...]]:
    """Take in what one pass healed (nothing, for a pass in sync) and return the fights that this pass shows.

    A field that was reported counts from zero again: one event for every 5 heals of a fight that goes on.
    """
    fields = {_digest(heal): heal for heal in heals[:TRACKED]}
    passes = (*state.passes, tuple(fields))[-PASSES:]
    counts = Counter(digest for healed in passes for digest in healed)
    fought = {digest: heal for digest, heal in fields.items() if counts[digest] >= HEALS}
    rest = tuple(tuple(digest for digest in healed if digest not in fought) for healed in passes)
    return FightState(rest), tuple(_fight(heal) for heal in fought.values())


def _fight(heal: Heal) -> Fight:
    if heal.owner is None:
        # The server records no owner of what a webhook writes into an apply, nor of a field that is gone.
        who = (
            "somebody without a record in managedFields, such as an admission webhook or whoever removes it,"
        )
    elif heal.owner.manager == MANAGER:
        who = "something that acts on convoy's own requests, such as an admission webhook,"
    else:
        who = f"{heal.owner.manager} ({heal.owner.operation})"
    message = (
        f"{heal.key}: {heal.pointer} was healed {HEALS} times within {PASSES} passes; {who} changes it back. "
        "Leave the field out of the render, add it to spec.ignoreDifferences, or stop the other side."
    )
    return Fight(heal.key, heal.pointer, message)


def _digest(heal: Heal) -> str:
    return hashlib.blake2b(f"{heal.key} {heal.pointer}".encode(), digest_size=8).hexdigest()
