"""The health of one object, in the four phases that the inventory knows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Phase(StrEnum):
    """How an object, a wave or a render is."""

    HEALTHY = "Healthy"
    PROGRESSING = "Progressing"
    """On its way: nothing is wrong yet."""
    DEGRADED = "Degraded"
    """Failed: nothing says that it will become healthy by itself."""
    UNKNOWN = "Unknown"
    """It could not be read, or it is not applied yet."""


@dataclass(frozen=True, slots=True)
class ObjectHealth:
    """What the rules say about one live object."""

    phase: Phase
    message: str = ""
    """Why; of a healthy object a note that a person wants to see, mostly empty."""

    @property
    def healthy(self) -> bool:
        """Whether nothing waits for it."""
        return self.phase is Phase.HEALTHY


def healthy(note: str = "") -> ObjectHealth:
    """Return a healthy object's health."""
    return ObjectHealth(Phase.HEALTHY, note)


def progressing(message: str) -> ObjectHealth:
    """Return the health of an object that is on its way."""
    return ObjectHealth(Phase.PROGRESSING, message)


def degraded(message: str) -> ObjectHealth:
    """Return the health of an object that failed."""
    return ObjectHealth(Phase.DEGRADED, message)


_WORST_FIRST = (Phase.DEGRADED, Phase.PROGRESSING, Phase.UNKNOWN)


def worst(phases: Iterable[Phase]) -> Phase:
    """Return the phase of many together: one failed object fails all, one that moves keeps all moving."""
    found = set(phases)
    return next((phase for phase in _WORST_FIRST if phase in found), Phase.HEALTHY)
