"""The highest version in a range; a pre-release only where the range names one."""

from __future__ import annotations

import pytest

from convoy.sources.semver_range import BadRange, highest

TAGS = [
    "v0.1.0",
    "v0.1.5",
    "v0.2.0",
    "1.0.0",
    "v1.2.0",
    "v1.2.9",
    "v1.10.0",
    "v2.0.0-rc.1",
    "v2.0.0",
    "v2.1",
    "v3.0.0-beta",
    "nightly",
    "vx",
]
RANGES = {
    "*": "v2.1",
    ">=1.0": "v2.1",
    ">=1.2 <2": "v1.10.0",
    ">=1.2, <1.10": "v1.2.9",
    "^1.2": "v1.10.0",
    "^0.1.0": "v0.1.5",
    "^0.1": "v0.1.5",
    "^0": "v0.2.0",
    "~1.2.0": "v1.2.9",
    "~1.2": "v1.2.9",
    "~1": "v1.10.0",
    "1.x": "v1.10.0",
    "1.2.*": "v1.2.9",
    "1": "v1.10.0",
    "v1.2.0": "v1.2.0",
    "=1.2.0": "v1.2.0",
    ">1.2": "v2.1",
    "<=1.2": "v1.2.9",
    "<1.2.0": "1.0.0",
    "1.0 - 1.2.9": "v1.2.9",
    ">=1 !=1.10.0 <2": "v1.2.9",
    "^0.1 || ^1.2 <1.10": "v1.2.9",
    ">=2.0.0-0 <2.0.0": "v2.0.0-rc.1",
    ">=3.0.0-alpha": "v3.0.0-beta",
    ">=3": None,
    "^9": None,
}


@pytest.mark.parametrize("wanted", RANGES)
def test_the_highest_that_fits(wanted: str) -> None:
    assert highest(TAGS, wanted) == RANGES[wanted]


@pytest.mark.parametrize("wanted", ["", " ", "latest", ">=a", "1.2.3.4", ">= ", "1.2 ||", "^"])
def test_nonsense_is_no_range(wanted: str) -> None:
    with pytest.raises(BadRange):
        highest(TAGS, wanted)
