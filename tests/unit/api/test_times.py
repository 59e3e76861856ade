"""RFC 3339 times, request times and Go durations."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convoy.api.times import (
    MAX_DURATION,
    format_duration,
    format_time,
    next_request_time,
    parse_duration,
    parse_time,
)

NOW = datetime(2026, 1, 2, 3, 4, 5, 900_000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05.999Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05+02:00", "2026-01-02T01:04:05Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
    ],
)
def test_a_time_is_written_in_utc_to_the_second(text: str, written: str) -> None:
    assert format_time(parse_time(text)) == written


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "2026-01-02",
        "2026-01-02 03:04:05Z",
        "2026-01-02T03:04:05",
        "2026-13-02T03:04:05Z",
        "20260102T030405Z",
        "9999-12-31T23:59:59Z",
        "0001-01-01T00:00:00+10:00",
    ],
)
def test_anything_else_is_no_time(text: str) -> None:
    with pytest.raises(ValueError, match=r"no RFC 3339 time|out of range|must be in"):
        parse_time(text)


def test_a_time_without_a_zone_is_not_written() -> None:
    with pytest.raises(ValueError, match="without a time zone"):
        format_time(NOW.replace(tzinfo=None))


@pytest.mark.parametrize(
    ("previous", "handled", "expected"),
    [
        (None, None, "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:04Z", None, "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05Z", None, "2026-01-02T03:04:06Z"),
        ("2026-01-02T03:04:05.500Z", None, "2026-01-02T03:04:06Z"),
        ("2026-01-02T04:04:05Z", None, "2026-01-02T04:04:06Z"),
        ("2026-01-02T05:04:05+02:00", None, "2026-01-02T03:04:06Z"),
        (None, "2026-01-02T04:04:05Z", "2026-01-02T04:04:06Z"),
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z", "2026-01-02T03:04:06Z"),
        ("yesterday", "never", "2026-01-02T03:04:05Z"),
    ],
    ids=[
        "the first request is now",
        "a later request is now",
        "a second request in the same second is a second later",
        "fractions of a second do not count",
        "a request never replaces a pending one with an earlier time",
        "zones are compared as times",
        "a request is later than what was handled, though the clock of its writer was ahead",
        "both at once",
        "a text that is no time counts as none",
    ],
)
def test_request_time(previous: str | None, handled: str | None, expected: str) -> None:
    assert next_request_time(previous, NOW, handled=handled) == expected


@pytest.mark.parametrize(
    ("text", "duration", "written"),
    [
        ("0", timedelta(), "0s"),
        ("0s", timedelta(), "0s"),
        ("90s", timedelta(seconds=90), "1m30s"),
        ("5m", timedelta(minutes=5), "5m0s"),
        ("1h30m", timedelta(minutes=90), "1h30m0s"),
        ("1.5h", timedelta(minutes=90), "1h30m0s"),
        (".5s", timedelta(milliseconds=500), "500ms"),
        ("1.s", timedelta(seconds=1), "1s"),
        ("1500ms", timedelta(milliseconds=1500), "1.5s"),
        ("5ms", timedelta(milliseconds=5), "5ms"),
        ("1500us", timedelta(microseconds=1500), "1.5ms"),
        ("7µs", timedelta(microseconds=7), "7µs"),
        ("1ns", timedelta(microseconds=1), "1µs"),
        ("8760h", MAX_DURATION, "8760h0m0s"),
    ],
)
def test_durations_are_read_and_written_as_go_does(text: str, duration: timedelta, written: str) -> None:
    assert parse_duration(text) == duration
    assert format_duration(duration) == written


@pytest.mark.parametrize(
    "text", ["", "5", "-5m", "+5m", "abc", "5 m", "5m ", "1d", "m", ".s", "1e3s", "٥m", "5M"]
)
def test_anything_else_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="no duration"):
        parse_duration(text)


@pytest.mark.parametrize("text", ["8761h", "99999999999999h", "9" * 400 + "h"])
def test_absurd_durations_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="longer than 8760h0m0s"):
        parse_duration(text)


@given(st.timedeltas(min_value=timedelta(), max_value=MAX_DURATION))
def test_what_is_written_is_read_again(duration: timedelta) -> None:
    assert parse_duration(format_duration(duration)) == duration
