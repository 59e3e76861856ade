"""Equal means equal JSON trees (D29); every difference is a field change with a pointer and both values."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convoy.drift.changes import ABSENT, FieldChange, field_changes


def changes(live: Any, desired: Any) -> list[tuple[str, Any, Any]]:
    found = field_changes(live={"spec": live}, desired={"spec": desired})
    return [(change.pointer.removeprefix("/spec"), change.live, change.desired) for change in found]


@pytest.mark.parametrize("empty", [{}, [], "", 0, False, None])
def test_absent_and_an_empty_value_differ(empty: Any) -> None:
    assert changes({}, {"a": empty}) == [("/a", ABSENT, empty)]
    assert changes({"a": empty}, {}) == [("/a", empty, ABSENT)]


@pytest.mark.parametrize(
    ("live", "desired"),
    [
        ({}, []),
        (1, True),
        (0, False),
        (1, "1"),
        (None, False),
        ([], None),
        ({}, None),
        ("", None),
        ([1], [True]),
    ],
)
def test_values_of_different_types_differ(live: Any, desired: Any) -> None:
    assert len(changes({"a": live}, {"a": desired})) == 1


def test_one_number_written_in_two_ways_is_equal() -> None:
    assert changes({"a": 1}, {"a": 1.0}) == []


def test_a_pointer_escapes_slash_and_tilde() -> None:
    assert changes({"a/b~c": 1}, {"a/b~c": 2}) == [("/a~1b~0c", 1, 2)]


def test_changes_are_as_deep_as_the_difference() -> None:
    live = {"ink": {"colour": "red", "strokes": [{"w": 1}, {"w": 3}]}, "same": [1]}
    desired = {"ink": {"colour": "green", "strokes": [{"w": 1}, {"w": 2}]}, "same": [1]}
    assert changes(live, desired) == [("/ink/colour", "red", "green"), ("/ink/strokes/1/w", 3, 2)]


def test_a_list_of_another_length_is_one_change_of_the_list() -> None:
    assert changes({"args": ["a", "b"]}, {"args": ["b"]}) == [("/args", ["a", "b"], ["b"])]


def test_a_change_goes_through_json_and_back() -> None:
    for change in field_changes(live={"spec": {"a": None}, "x": 1}, desired={"spec": {"b": []}, "x": 2}):
        assert FieldChange.from_tree(change.tree()) == change


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "/", "~"]), inner),
    max_leaves=12,
)


def strict(value: Any) -> Any:
    """Tag booleans, which Python takes for numbers."""
    if isinstance(value, dict):
        return {name: strict(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [strict(entry) for entry in value]
    return ("bool", value) if isinstance(value, bool) else value


@given(JSON, JSON)
def test_there_is_a_change_exactly_if_the_trees_differ(live: Any, desired: Any) -> None:
    assert bool(changes(live, desired)) == (strict(live) != strict(desired))


@given(JSON, JSON)
def test_the_other_way_round_gives_the_same_pointers(live: Any, desired: Any) -> None:
    assert {c[0] for c in changes(live, desired)} == {c[0] for c in changes(desired, live)}
