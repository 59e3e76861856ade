"""When the timer passes of many Releases are due (D33).

A thousand Releases made by one script, or a fleet that was down for an hour, would otherwise all pass at
the same moment, for ever. A pass is never early: the spread comes on top of the period.
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta

from convoy.api.objects import Manifest
from convoy.api.times import parse_duration

JITTER = 0.05
"""Share of the period that a tick is late at most, by chance."""

BUSY = timedelta(seconds=10)
"""A timer that fires so late is the delay of a busy worker, not a sign that all of them were gone."""


SHORTEST = timedelta(seconds=1)
"""A shorter interval counts as this: a pass takes about as long, and Temporal's timers are no finer."""


def tick_period(interval: timedelta | None, resync: timedelta | None) -> timedelta | None:
    """Return the period of the tick that interval and resync share, or None where both are off."""
    return min((max(period, SHORTEST) for period in (interval, resync) if period), default=None)


def stored_interval(tree: Manifest) -> timedelta | None:
    """Return `spec.syncPolicy.interval` of a Release as the API server stores it; None where it is no duration.

    What is wrong with a Release is for its sync to say: its clock goes on.
    """
    text = ((tree.get("spec") or {}).get("syncPolicy") or {}).get("interval")
    try:
        return parse_duration(text) if text else None
    except (TypeError, ValueError):
        return None


def phase(uid: str) -> float:
    """Return a number in [0, 1): always the same for one Release, evenly spread over many."""
    return int.from_bytes(hashlib.sha256(uid.encode()).digest()[:6], "big") / 2**48


def next_tick(
    *,
    uid: str,
    now: datetime,
    interval: timedelta | None,
    resync: timedelta | None,
    jitter01: float,
    first: bool = False,
) -> datetime | None:
    """Return when the pass after one at `now` is due, or None where no timer is set.

    `jitter01` is a random number in [0, 1]. `first` is true for the first tick of a Drift workflow's life and
    spreads it over one more period by the UID; later ticks keep that phase.
    """
    period = tick_period(interval, resync)
    if period is None:
        return None
    return now + period * (1 + JITTER * jitter01 + (phase(uid) if first else 0))


def overdue_delay(*, uid: str, due: datetime, now: datetime, period: timedelta) -> timedelta:
    """Return how long a pass that was due at `due` still waits at `now`.

    Nothing, unless it is later than any busy worker would make it: then all workers were gone, every timer
    of the fleet fires at once, and the passes spread over a period again.
    """
    late = now - due > max(period * JITTER, BUSY)
    return period * phase(uid) if late else timedelta()
