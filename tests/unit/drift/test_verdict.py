"""The InSync condition: status, reason, message, and when it is written (`reference/drift`; D31)."""

from typing import Any

import pytest

from convoy.api.objects import ObjectKey
from convoy.drift.changes import FieldChange
from convoy.drift.owners import Owner
from convoy.drift.results import DriftStatus, Failure, ObjectDrift, ScanResult
from convoy.drift.verdict import must_write, undetermined, verdict_of


def found(name: str, status: DriftStatus = DriftStatus.IN_SYNC, *pointers: str) -> ObjectDrift:
    changes = tuple(FieldChange(pointer, "left", "right", Owner("hand", "Update")) for pointer in pointers)
    return ObjectDrift(ObjectKey("", "ConfigMap", "demo", name), status, changes)


def scan(*objects: ObjectDrift, failure: Failure | None = None) -> ScanResult:
    return ScanResult(total=len(objects) + (2 if failure else 0), objects=objects, failure=failure)


def test_all_objects_in_sync_is_true() -> None:
    verdict = verdict_of(scan(found("a"), found("b")))
    assert (verdict.status, verdict.reason, verdict.message) == ("True", "InSync", "2 objects in sync")
    assert not verdict.drifted


@pytest.mark.parametrize("status", [DriftStatus.MODIFIED, DriftStatus.MISSING])
def test_one_object_modified_or_missing_is_false(status: DriftStatus) -> None:
    verdict = verdict_of(scan(found("a"), found("b", status, "/data/k")))
    assert (verdict.status, verdict.reason) == ("False", "Drifted")
    assert verdict.drifted


def test_the_message_names_objects_pointers_and_managers_and_no_value() -> None:
    verdict = verdict_of(scan(found("a", DriftStatus.MODIFIED, "/data/k"), found("b", DriftStatus.MISSING)))
    assert verdict.message == (
        "2 of 2 objects drifted (1 modified, 1 missing): "
        "ConfigMap demo/a at /data/k (owned by hand); ConfigMap demo/b is missing"
    )


def test_the_message_is_bounded_and_says_how_much_it_leaves_out() -> None:
    pointers = [f"/data/{number}" for number in range(40)]
    verdict = verdict_of(
        scan(*(found(f"o{number}", DriftStatus.MODIFIED, *pointers) for number in range(5000)))
    )
    assert len(verdict.message) < 4000
    assert "and 35 more" in verdict.message
    assert verdict.message.endswith("; and 4990 more")


def test_an_error_makes_it_unknown_even_where_drift_was_found_before() -> None:
    failure = Failure(ObjectKey("x.org", "Unicorn", "demo", "white"), "the cluster does not know the kind")
    verdict = verdict_of(scan(found("a"), found("b", DriftStatus.MISSING), failure=failure))
    assert (verdict.status, verdict.reason) == ("Unknown", "Undetermined")
    assert not verdict.drifted


def test_undetermined_names_the_object_at_fault_and_how_far_it_came() -> None:
    failure = Failure(ObjectKey("x.org", "Unicorn", "demo", "white"), "the cluster does not know the kind")
    verdict = verdict_of(scan(found("a"), found("b", DriftStatus.MISSING), failure=failure))
    assert verdict.message == (
        "stopped at Unicorn.x.org demo/white: the cluster does not know the kind "
        "(compared 2 of 4 objects: 1 in sync, 0 modified, 1 missing)"
    )


def test_a_pass_that_fails_before_its_first_object_is_undetermined() -> None:
    verdict = undetermined("ConfigMap demo/files not found")
    assert (verdict.status, verdict.reason) == ("Unknown", "Undetermined")
    assert "ConfigMap demo/files not found" in verdict.message


def test_the_first_verdict_is_written() -> None:
    assert must_write(verdict_of(scan(found("a"))), condition=None, generation=1)


@pytest.mark.parametrize(
    ("change", "writes"),
    [
        ({}, False),
        ({"lastTransitionTime": "later"}, False),
        ({"status": "False"}, True),
        ({"reason": "Drifted"}, True),
        ({"message": "other"}, True),
        ({"observedGeneration": 2}, True),
    ],
)
def test_it_is_written_only_when_condition_or_generation_changes(
    change: dict[str, Any], writes: bool
) -> None:
    verdict = verdict_of(scan(found("a")))
    written = {
        "type": "InSync",
        "status": "True",
        "reason": "InSync",
        "message": "1 object in sync",
        "observedGeneration": 1,
    }
    assert must_write(verdict, condition={**written, **change}, generation=1) is writes


def test_an_object_result_goes_through_json_and_back() -> None:
    for result in (found("a"), found("b", DriftStatus.MISSING), found("c", DriftStatus.MODIFIED, "/data/k")):
        assert ObjectDrift.from_tree(result.tree()) == result
