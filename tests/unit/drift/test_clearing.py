"""Step 3 of the compare: what is cleared on both sides, and nothing else (`reference/drift`)."""

from typing import Any

import pytest

from convoy.drift.changes import cleared, field_changes

OBJECT: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {
        "name": "box",
        "namespace": "demo",
        "resourceVersion": "7",
        "uid": "u",
        "generation": 3,
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "managedFields": [],
        "labels": {"a": "b"},
    },
    "data": {"k": "v"},
    "status": {"phase": "x"},
}


def test_exactly_the_six_fields_of_the_page_are_cleared() -> None:
    assert cleared(OBJECT) == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "box", "namespace": "demo", "labels": {"a": "b"}},
        "data": {"k": "v"},
    }


def test_clearing_leaves_the_object_as_it_was() -> None:
    before = repr(OBJECT)
    cleared(OBJECT)
    assert repr(OBJECT) == before


@pytest.mark.parametrize(
    "name", ["resourceVersion", "uid", "generation", "creationTimestamp", "managedFields"]
)
def test_a_cleared_metadata_field_is_no_drift(name: str) -> None:
    changed = {**OBJECT, "metadata": {**OBJECT["metadata"], name: "other"}}
    assert field_changes(live=OBJECT, desired=changed) == ()


def test_status_is_no_drift() -> None:
    assert field_changes(live=OBJECT, desired={**OBJECT, "status": {"phase": "y"}}) == ()


@pytest.mark.parametrize(
    "name", ["labels", "annotations", "finalizers", "ownerReferences", "deletionTimestamp"]
)
def test_every_other_metadata_field_is_compared(name: str) -> None:
    changed = {**OBJECT, "metadata": {**OBJECT["metadata"], name: "other"}}
    assert [change.pointer for change in field_changes(live=OBJECT, desired=changed)] == [f"/metadata/{name}"]


def test_a_field_called_status_below_the_top_is_compared() -> None:
    live, desired = {**OBJECT, "data": {"status": "a"}}, {**OBJECT, "data": {"status": "b"}}
    assert [change.pointer for change in field_changes(live=live, desired=desired)] == ["/data/status"]
