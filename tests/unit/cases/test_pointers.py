"""JSON pointers into live objects, and values compared with their types."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.runner.pointer import ABSENT, BadPointer, is_at_or_below, resolve, same

TREE: dict[str, Any] = {"data": {"a/b": 1, "m~n": 2, "": 3}, "list": [{"k": None}, "two"]}


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("", TREE),
        ("/data/a~1b", 1),
        ("/data/m~0n", 2),
        ("/data/", 3),
        ("/list/0", {"k": None}),
        ("/list/0/k", None),
        ("/list/1", "two"),
        ("/list/2", ABSENT),
        ("/list/-", ABSENT),
        ("/data/none", ABSENT),
        ("/list/1/deeper", ABSENT),
    ],
)
def test_a_pointer_leads_to_its_value_or_to_nothing(pointer: str, value: Any) -> None:
    assert resolve(TREE, pointer) == value


def test_a_text_without_a_slash_at_its_begin_is_no_pointer() -> None:
    with pytest.raises(BadPointer, match="'data' is no JSON pointer"):
        resolve(TREE, "data")


def test_below_means_whole_segments() -> None:
    assert is_at_or_below("/spec/ports/0", "/spec/ports")
    assert is_at_or_below("/spec/ports", "/spec/ports")
    assert not is_at_or_below("/spec/portsmouth", "/spec/ports")
    assert not is_at_or_below("/spec", "/spec/ports")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (1, "1"),
        (1, True),
        (0, False),
        (0, None),
        ("", None),
        ([], {}),
        ([1], [1, 1]),
        ({"a": 1}, {"a": 1, "b": 2}),
    ],
)
def test_values_of_different_types_differ(left: Any, right: Any) -> None:
    assert not same(left, right)
    assert not same(right, left)


def test_an_integral_number_may_be_read_as_an_integer() -> None:
    assert same([{"a": 1.0}], [{"a": 1}])
    assert not same(1.5, 1)
