"""D33: timer passes of many Releases are spread, and never early. reference/sync-policy, interval."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from convoy.policy.spread import next_tick, overdue_delay, phase, tick_period

NOW = datetime(2026, 1, 2, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
UIDS = [f"uid-{number}" for number in range(1000)]


@pytest.mark.parametrize(
    ("interval", "resync", "period"),
    [
        (5 * MINUTE, 2 * MINUTE, 2 * MINUTE),
        (MINUTE, 2 * MINUTE, MINUTE),
        (None, 2 * MINUTE, 2 * MINUTE),
        (timedelta(), 2 * MINUTE, 2 * MINUTE),
        (MINUTE, timedelta(), MINUTE),
        (None, None, None),
        (timedelta(microseconds=1), 2 * MINUTE, SECOND),
        (MINUTE, timedelta(milliseconds=5), SECOND),
    ],
    ids=[
        "interval and resync share one tick",
        "the shorter one counts",
        "with interval not set only the resync starts a pass",
        "with interval 0 only the resync starts a pass",
        "without resync the interval counts",
        "with neither there is no timer",
        "an interval below a second counts as one",
        "and so does a resync",
    ],
)
def test_period(interval: timedelta | None, resync: timedelta | None, period: timedelta | None) -> None:
    assert tick_period(interval, resync) == period


def _tick(uid: str, jitter01: float, *, first: bool = False) -> timedelta:
    at = next_tick(uid=uid, now=NOW, interval=MINUTE, resync=None, jitter01=jitter01, first=first)
    assert at is not None
    return at - NOW


def test_a_tick_is_never_early_and_at_most_5_percent_late() -> None:
    assert _tick("a", 0.0) == MINUTE
    assert _tick("a", 1.0) == MINUTE * 1.05


def test_the_first_ticks_are_spread_over_one_more_interval() -> None:
    ticks = [_tick(uid, 0.0, first=True) for uid in UIDS]
    assert all(MINUTE <= tick < 2 * MINUTE for tick in ticks)
    tenths = [
        sum(lower <= tick / MINUTE - 1 < lower + 0.1 for tick in ticks) for lower in (0.0, 0.3, 0.6, 0.9)
    ]
    assert all(60 <= count <= 140 for count in tenths)


def test_without_a_timer_there_is_no_tick() -> None:
    assert next_tick(uid="a", now=NOW, interval=None, resync=timedelta(), jitter01=0.5) is None


def test_the_phase_is_the_releases_own() -> None:
    assert phase("a") == phase("a") != phase("b")
    assert 0 <= phase("") < 1


@pytest.mark.parametrize("period", [timedelta(seconds=3), MINUTE, 60 * MINUTE])
def test_a_pass_that_is_due_begins_at_once_also_on_a_busy_worker(period: timedelta) -> None:
    assert overdue_delay(uid="a", due=NOW, now=NOW, period=period) == timedelta()
    assert overdue_delay(uid="a", due=NOW, now=NOW + 10 * SECOND, period=period) == timedelta()


def test_the_jitter_of_a_long_period_is_not_overdue() -> None:
    assert overdue_delay(uid="a", due=NOW, now=NOW + 3 * MINUTE, period=60 * MINUTE) == timedelta()


def test_after_a_restart_of_everything_overdue_passes_spread_again() -> None:
    delays = [overdue_delay(uid=uid, due=NOW, now=NOW + 60 * MINUTE, period=MINUTE) for uid in UIDS]
    assert all(timedelta() <= delay < MINUTE for delay in delays)
    assert len(set(delays)) == len(UIDS)
