"""Ages are written as kubectl writes them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from convoy.api.times import format_time
from convoy.cli.ages import age, human


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (190, "3m10s"),
        (600, "10m"),
        (10_799, "179m"),
        (10_800, "3h"),
        (11_160, "3h6m"),
        (28_800, "8h"),
        (172_799, "47h"),
        (172_800, "2d"),
        (183_600, "2d3h"),
        (691_200, "8d"),
        (63_072_000, "2y"),
    ],
)
def test_precision_falls_with_age(seconds: int, text: str) -> None:
    assert human(seconds) == text


def test_a_time_becomes_an_age() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    assert age(format_time(now - timedelta(seconds=5)), now) == "5s"
    assert age(format_time(now + timedelta(seconds=5)), now) == "0s", "another clock may be ahead"
    assert age(None) == ""
    assert age("soon") == "<invalid>"
