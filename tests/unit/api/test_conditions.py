"""Conditions as every writer builds them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from convoy.api.conditions import (
    MAX_MESSAGE,
    cut_message,
    ready_condition,
    replace_condition,
    summary_conditions,
    with_condition,
)

NOW = datetime(2026, 1, 2, tzinfo=UTC)
BEFORE = "2025-01-01T00:00:00Z"


def _condition(kind: str, status: str, reason: str = "", generation: int = 2) -> dict[str, Any]:
    return {
        "type": kind,
        "status": status,
        "reason": reason or kind,
        "message": f"{kind} says so",
        "observedGeneration": generation,
        "lastTransitionTime": BEFORE,
    }


def _build(existing: Any, status: str) -> dict[str, Any]:
    return with_condition(
        existing, type="Applied", status=status, reason="R", message="m", generation=3, now=NOW
    )


def test_the_transition_time_moves_when_the_status_changes() -> None:
    assert _build([_condition("Applied", "True")], "False")["lastTransitionTime"] == "2026-01-02T00:00:00Z"


def test_the_transition_time_stays_when_only_reason_and_message_change() -> None:
    built = _build([_condition("Applied", "True")], "True")
    assert (built["lastTransitionTime"], built["reason"], built["message"]) == (BEFORE, "R", "m")


@pytest.mark.parametrize("existing", [None, [], [_condition("InSync", "True")]])
def test_a_new_condition_begins_now(existing: Any) -> None:
    assert _build(existing, "True") == {
        "type": "Applied",
        "status": "True",
        "reason": "R",
        "message": "m",
        "observedGeneration": 3,
        "lastTransitionTime": "2026-01-02T00:00:00Z",
    }


def test_a_message_is_cut_and_says_how_much_is_gone() -> None:
    assert cut_message("x" * MAX_MESSAGE) == "x" * MAX_MESSAGE
    cut = cut_message("x" * (MAX_MESSAGE + 1000))
    assert len(cut) <= MAX_MESSAGE
    kept = cut.count("x")
    assert cut.endswith(f"… ({MAX_MESSAGE + 1000 - kept} characters cut)")


def test_a_condition_takes_the_place_of_its_type() -> None:
    others = [_condition("Applied", "True"), _condition("InSync", "True")]
    new = _condition("Applied", "False")
    assert replace_condition(others, new) == [new, others[1]]
    assert replace_condition([others[1]], new) == [others[1], new]
    assert replace_condition(None, new) == [new]


READY: list[tuple[str, list[dict[str, Any]] | None, str, str]] = [
    ("nothing is known of a new Release", None, "Unknown", "Reconciling"),
    ("Applied alone is not Ready yet", [_condition("Applied", "True")], "Unknown", "Reconciling"),
    (
        "Applied and Healthy make Ready",
        [_condition("Applied", "True"), _condition("Healthy", "True")],
        "True",
        "Ready",
    ),
    (
        "an applied Release that is not healthy is not Ready",
        [_condition("Applied", "True"), _condition("Healthy", "False", "Degraded")],
        "False",
        "Degraded",
    ),
    (
        "a Release whose health is not known is not Ready",
        [_condition("Applied", "True"), _condition("Healthy", "Unknown", "Unknown")],
        "False",
        "Unknown",
    ),
    (
        "a healthy Release that is not applied is not Ready, with Applied's reason",
        [_condition("Applied", "False", "DeployFailed"), _condition("Healthy", "True")],
        "False",
        "DeployFailed",
    ),
    (
        "an Applied of an older generation says nothing",
        [_condition("Applied", "True", generation=1)],
        "Unknown",
        "Reconciling",
    ),
    (
        "drift does not count",
        [
            _condition("Applied", "True"),
            _condition("Healthy", "True"),
            _condition("InSync", "False", "Drifted"),
        ],
        "True",
        "Ready",
    ),
]


@pytest.mark.parametrize(
    ("conditions", "status", "reason"), [row[1:] for row in READY], ids=[r[0] for r in READY]
)
def test_ready(conditions: list[dict[str, Any]] | None, status: str, reason: str) -> None:
    ready = ready_condition(conditions, rollout=None, generation=2, now=NOW)
    assert (ready["status"], ready["reason"], ready["observedGeneration"]) == (status, reason, 2)


@pytest.mark.parametrize(
    ("applied", "expected"),
    [
        (_condition("Applied", "True"), ("True", "False", "False")),
        (_condition("Applied", "False", "Unappliable"), ("False", "False", "True")),
        (_condition("Applied", "False", "DeployFailed"), ("False", "True", "False")),
        (_condition("Applied", "False", "WaitingForSync"), ("False", "True", "False")),
        (_condition("Applied", "False", "Unappliable", generation=1), ("Unknown", "True", "False")),
    ],
    ids=[
        "a Ready Release is neither reconciling nor stalled",
        "what only a change can end is stalled",
        "a failure that is retried is reconciling",
        "a wait is reconciling",
        "a change of what was stalled is reconciling",
    ],
)
def test_kstatus_can_tell(applied: dict[str, Any], expected: tuple[str, str, str]) -> None:
    conditions = [applied, _condition("Healthy", "True")]
    told = summary_conditions(conditions, rollout=None, generation=2, now=NOW)
    assert [entry["type"] for entry in told] == ["Ready", "Reconciling", "Stalled"]
    assert tuple(entry["status"] for entry in told) == expected


@pytest.mark.parametrize(
    ("reason", "expected"),
    [("Progressing", ("False", "True", "False")), ("Degraded", ("False", "False", "True"))],
)
def test_kstatus_can_tell_a_rollout_from_a_failure(reason: str, expected: tuple[str, str, str]) -> None:
    conditions = [_condition("Applied", "True"), _condition("Healthy", "False", reason)]
    told = summary_conditions(conditions, rollout=None, generation=2, now=NOW)
    assert tuple(entry["status"] for entry in told) == expected


WELL = [_condition("Applied", "True"), _condition("Healthy", "True")]


@pytest.mark.parametrize(("phase", "reason"), [("RolledBack", "RolledBack"), ("Failed", "RolloutFailed")])
def test_a_rollout_that_has_failed_is_stalled_however_well_what_is_applied_works(
    phase: str, reason: str
) -> None:
    rollout = {"phase": phase, "message": "the render failed; push a fix"}
    ready, reconciling, stalled = summary_conditions(WELL, rollout=rollout, generation=2, now=NOW)
    assert (ready["status"], reconciling["status"], stalled["status"]) == ("False", "False", "True")
    for condition in (ready, stalled):
        assert (condition["reason"], condition["message"]) == (reason, "the render failed; push a fix")


@pytest.mark.parametrize("phase", ["Progressing", "Healthy"])
def test_a_rollout_that_has_not_failed_changes_nothing(phase: str) -> None:
    told = summary_conditions(WELL, rollout={"phase": phase, "message": "m"}, generation=2, now=NOW)
    assert told == summary_conditions(WELL, rollout=None, generation=2, now=NOW)


def test_a_change_that_may_end_a_failed_rollout_is_reconciling() -> None:
    told = summary_conditions(WELL, rollout={"phase": "Failed", "message": "m"}, generation=3, now=NOW)
    assert [entry["status"] for entry in told] == ["Unknown", "True", "False"]
