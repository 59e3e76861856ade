"""A wave that is taken up again goes on behind what was reported, and forgets no change (design 04, rule 6)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from activities.applying import resume_from


@pytest.mark.parametrize(
    ("details", "applied", "changed"),
    [
        pytest.param((), 0, 0, id="nothing was reported"),
        pytest.param((3,), 3, 0, id="by a worker that did not count changes"),
        pytest.param((3, 2), 3, 2, id="three objects of which two changed"),
    ],
)
def test_a_wave_is_resumed_from_what_was_reported(details: Sequence[int], applied: int, changed: int) -> None:
    assert resume_from(details) == (applied, changed)
