"""status.hooks: what an attempt writes there, and what it never takes back."""

from __future__ import annotations

from typing import Any

import pytest

from convoy.api.release_status import HookStatus
from convoy.hooks.entries import with_entries
from convoy.sync.interruptions import Fenced
from tests.unit.hooks.making import A, B, entry


def tree(*hooks: dict[str, Any], **status: Any) -> dict[str, Any]:
    return {"metadata": {"uid": "u-1"}, "status": {"hooks": list(hooks), **status}}


def read(found: dict[str, Any]) -> HookStatus:
    return HookStatus.model_validate(found)


def test_waves_and_other_hooks_stay() -> None:
    waves = [{"wave": 0, "phase": "Applied"}]

    written = with_entries(
        tree(entry("old", "Succeeded"), waves=waves), [read(entry("new", "Pending"))], order=["new"]
    )

    assert written == {"waves": waves, "hooks": [entry("new", "Pending"), entry("old", "Succeeded")]}


def test_what_stands_there_is_not_written_again() -> None:
    assert with_entries(tree(entry("a", "Running")), [read(entry("a", "Running"))]) is None
    assert with_entries(tree(entry("a", "Running")), [], drop={"b"}) is None


def test_a_hook_that_is_gone_is_dropped() -> None:
    assert with_entries(tree(entry("a", "Running"), entry("b", "Failed")), [], drop={"a"}) == {
        "hooks": [entry("b", "Failed")]
    }


@pytest.mark.parametrize(
    ("stored", "late"),
    [
        (entry("a", "Running", run=2), entry("a", "Succeeded", run=1)),
        (entry("a", "Succeeded"), entry("a", "Running")),
        (entry("a", "Running"), entry("a", "Pending")),
        (entry("a", "Pending", ref=B), entry("a", "Running", ref=A)),
        (entry("a", "Succeeded"), entry("a", "Failed", message="it was deleted while it ran")),
        (entry("a", "Failed"), entry("a", "Approved", approvedBy="ada")),
        (entry("a", "Approved", approvedBy="ada"), entry("a", "Approved", approvedBy="bob")),
    ],
    ids=[
        "a later run",
        "a result",
        "a Job that was seen",
        "another render",
        "a success",
        "a failure",
        "who approved",
    ],
)
def test_a_late_attempt_takes_nothing_back(stored: dict[str, Any], late: dict[str, Any]) -> None:
    with pytest.raises(Fenced):
        with_entries(tree(stored), [read(late)])
