"""Times and durations as they stand in resources: RFC 3339 texts to the second, and Go durations.

Python's own parser takes texts that Kubernetes refuses, and its timedelta prints as no Go program reads it.
Nothing here looks at a clock: the workflows import it, and each caller says what time it is.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
_DURATION = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)")
_MICROSECONDS = {"ns": 0.001, "us": 1, "µs": 1, "μs": 1, "ms": 1e3, "s": 1e6, "m": 6e7, "h": 3.6e9}
_SECOND = timedelta(seconds=1)

LATEST = datetime(9999, 12, 30, tzinfo=UTC)
"""No annotation may be later. Nothing can follow it either, so a request after it begins anew from the clock."""

MAX_DURATION = timedelta(days=365)
"""Longer durations are refused as a mistake."""

DURATION_PATTERN = r"^(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$"
"""A Go duration without a sign; the schema's pattern and this module agree."""


def parse_time(text: str) -> datetime:
    """Read an RFC 3339 time as UTC. Raise ValueError if it is none, or later than `LATEST`."""
    if not _TIME.fullmatch(text):
        raise ValueError(f"{text[:64]!r} is no RFC 3339 time such as 2006-01-02T15:04:05Z")
    try:
        moment = datetime.fromisoformat(text).astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"{text[:64]!r} is out of range") from error
    if moment > LATEST:
        raise ValueError(f"{text[:64]!r} is out of range")
    return moment


def format_time(moment: datetime) -> str:
    """Write an aware time as RFC 3339 in UTC, cut to the second.

    Raises:
        ValueError: the time has no time zone.
    """
    if moment.tzinfo is None:
        raise ValueError("a time without a time zone")
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")


def second_or_none(text: str | None) -> datetime | None:
    """Return the second that a text names, or None where there is no text or it is no time."""
    try:
        return parse_time(text).replace(microsecond=0) if text else None
    except ValueError:
        return None


def next_request_time(previous: str | None, now: datetime, *, handled: str | None = None) -> str:
    """Return the annotation value of a new request (D22, D23).

    It is `now`, or a second later than the latest of `previous` (the annotation) and `handled` (the status)
    where that is not earlier: so neither two requests in one second nor a writer whose clock is ahead can
    hide one, and a pending request is never replaced by an earlier time. A text that is no time counts as
    none, and so does `LATEST`.
    """
    moment = now.astimezone(UTC).replace(microsecond=0)
    for taken in (second_or_none(previous), second_or_none(handled)):
        if taken is not None and moment <= taken < LATEST:
            moment = taken + _SECOND
    return format_time(moment)


def parse_duration(text: str) -> timedelta:
    """Read a Go duration such as `90s`, `5m` or `1h30m`; a fraction of a microsecond counts as one.

    Raise ValueError if it is none, is negative, or is longer than `MAX_DURATION`.
    """
    if not re.fullmatch(DURATION_PATTERN, text):
        raise ValueError(f"{text[:64]!r} is no duration such as 90s, 5m or 1h30m (negative ones are refused)")
    microseconds = sum(float(number) * _MICROSECONDS[unit] for number, unit in _DURATION.findall(text))
    if microseconds > MAX_DURATION / timedelta(microseconds=1):
        raise ValueError(f"{text[:64]!r} is longer than {format_duration(MAX_DURATION)}")
    return timedelta(microseconds=max(round(microseconds), 1 if microseconds else 0))


def format_duration(duration: timedelta) -> str:
    """Write a duration as Go does: `1h30m0s`, `1.5s`, `5ms`, `0s`."""
    if duration < timedelta():
        return "-" + format_duration(-duration)
    microseconds = duration // timedelta(microseconds=1)
    if microseconds == 0:
        return "0s"
    for size, unit in ((1, "µs"), (1_000, "ms")):
        if microseconds < size * 1_000:
            return f"{_decimal(microseconds, size)}{unit}"
    minutes, rest = divmod(microseconds, 60_000_000)
    hours, minutes = divmod(minutes, 60)
    seconds = f"{_decimal(rest, 1_000_000)}s"
    if hours:
        return f"{hours}h{minutes}m{seconds}"
    return f"{minutes}m{seconds}" if minutes else seconds


def _decimal(amount: int, size: int) -> str:
    whole, part = divmod(amount, size)
    digits = f"{part:0{len(str(size)) - 1}d}".rstrip("0") if part else ""
    return f"{whole}.{digits}" if digits else str(whole)
