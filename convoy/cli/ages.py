"""How long ago something was, as kubectl tells it."""

from __future__ import annotations

from datetime import UTC, datetime

_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def age(moment: str | None, now: datetime | None = None) -> str:
    """Return `42s`, `3m10s`, `5h`, `2d3h`, or nothing where there is no time."""
    from convoy.api.times import parse_time

    if not moment:
        return ""
    try:
        seconds = int(((now or datetime.now(UTC)) - parse_time(moment)).total_seconds())
    except ValueError:
        return "<invalid>"
    return human(max(seconds, 0))


def human(seconds: int) -> str:
    """Write a duration with as much precision as kubectl thinks it is worth."""
    if seconds < 2 * _MINUTE:
        return f"{seconds}s"
    if seconds < 10 * _MINUTE:
        return _two(seconds, _MINUTE, "m", 1, "s")
    if seconds < 3 * _HOUR:
        return f"{seconds // _MINUTE}m"
    if seconds < 8 * _HOUR:
        return _two(seconds, _HOUR, "h", _MINUTE, "m")
    if seconds < 2 * _DAY:
        return f"{seconds // _HOUR}h"
    if seconds < 8 * _DAY:
        return _two(seconds, _DAY, "d", _HOUR, "h")
    if seconds < 2 * 365 * _DAY:
        return f"{seconds // _DAY}d"
    return _two(seconds, 365 * _DAY, "y", _DAY, "d")


def _two(seconds: int, big: int, big_unit: str, small: int, small_unit: str) -> str:
    rest = seconds % big // small
    return f"{seconds // big}{big_unit}" + (f"{rest}{small_unit}" if rest else "")
