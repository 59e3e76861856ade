"""The owner of a change is the manager, operation and time that managedFields record for it (D29)."""

from typing import Any

import pytest

from convoy.drift.changes import field_changes
from convoy.drift.owners import Owner, Path, list_keys, owner_of, owner_of_absent


def entry(
    manager: str, fields: dict[str, Any], *, time: str = "2026-01-01T00:00:00Z", operation: str = "Update"
) -> Any:
    return {"manager": manager, "operation": operation, "time": time, "fieldsV1": fields}


LIVE: dict[str, Any] = {
    "metadata": {
        "finalizers": ["a", "b"],
        "managedFields": [
            entry(
                "convoy",
                {
                    "f:data": {".": {}, "f:jam": {}},
                    "f:ports": {'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:port": {}}},
                    "f:shared": {},
                },
                operation="Apply",
            ),
            entry(
                "other",
                {
                    "f:data": {"f:honey": {}},
                    "f:ports": {'k:{"port":90,"protocol":"TCP"}': {".": {}, "f:port": {}}},
                    "f:metadata": {"f:finalizers": {'v:"b"': {}}},
                    "f:rows": {"i:1": {"f:w": {}}},
                    "f:selector": {},
                    "f:shared": {},
                },
                time="2026-01-02T00:00:00Z",
            ),
        ],
    },
    "data": {"jam": "fig", "honey": "lime", "tea": "mint"},
    "ports": [{"port": 80, "protocol": "TCP"}, {"port": 90, "protocol": "TCP", "name": "x"}],
    "rows": [{"w": 1}, {"w": 2}],
    "selector": {"app": "a"},
    "shared": 1,
}


@pytest.mark.parametrize(
    ("path", "manager"),
    [
        (("data", "jam"), "convoy"),
        (("data", "honey"), "other"),
        (("data",), "convoy"),
        (("ports", 0, "port"), "convoy"),
        (("ports", 1, "port"), "other"),
        (("ports", 1), "other"),
        (("metadata", "finalizers", 1), "other"),
        (("rows", 1, "w"), "other"),
        (("selector", "app"), "other"),
        (("shared",), "other"),
        (("metadata", "finalizers"), "other"),
    ],
)
def test_a_field_has_the_owner_that_the_server_recorded(path: Path, manager: str) -> None:
    owner = owner_of(LIVE, path)
    assert owner is not None
    assert owner.manager == manager


@pytest.mark.parametrize(
    "path", [("data", "tea"), ("ports", 1, "name"), ("metadata", "finalizers", 0), ("rows", 0), ("kind",)]
)
def test_a_field_that_nobody_owns_has_no_owner(path: Path) -> None:
    assert owner_of({**LIVE, "kind": "Thing"}, path) is None


def test_the_owner_comes_with_operation_and_time() -> None:
    assert owner_of(LIVE, ("data", "honey")) == Owner("other", "Update", "2026-01-02T00:00:00Z")


def test_of_two_owners_since_the_same_second_it_is_not_convoy_that_is_named() -> None:
    shared: dict[str, Any] = {"f:data": {"f:jam": {}}}
    fields = [entry("convoy", shared, operation="Apply"), entry("other", shared, operation="Apply")]
    for order in (fields, fields[::-1]):
        owner = owner_of({"metadata": {"managedFields": order}, "data": {"jam": "fig"}}, ("data", "jam"))
        assert owner is not None
        assert owner.manager == "other"


def test_who_took_a_field_out_is_known_where_the_parent_is_atomic_only() -> None:
    assert owner_of_absent(LIVE, ("selector",)) == Owner("other", "Update", "2026-01-02T00:00:00Z")
    assert owner_of_absent(LIVE, ("data",)) is None


def test_list_keys_are_read_from_the_record() -> None:
    assert list_keys(LIVE, ("ports",)) == ("port", "protocol")
    assert list_keys(LIVE, ("rows",)) == ()
    assert list_keys(LIVE, ("metadata", "finalizers")) == ()


def test_an_object_without_managed_fields_has_no_owners() -> None:
    assert owner_of({"metadata": {}}, ("metadata",)) is None
    assert owner_of({"metadata": {"managedFields": None}}, ("metadata",)) is None


def test_each_change_names_its_owner() -> None:
    desired = {**LIVE, "data": {"jam": "plum", "honey": "lime", "tea": "black"}}
    owners = {
        change.pointer: change.owner and change.owner.manager
        for change in field_changes(live=LIVE, desired=desired)
    }
    assert owners == {"/data/jam": "convoy", "/data/tea": None}
