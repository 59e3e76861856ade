"""RFC 6902 and RFC 7396: the examples of their appendices, and what they leave unsaid."""

from __future__ import annotations

from typing import Any

import pytest

from convoy.api.mutations import Mutation
from convoy.render.json_patch import PatchFailed, json_patch
from convoy.render.merge_patch import merge_patch


def patched(tree: Any, *operations: dict[str, Any]) -> Any:
    return json_patch(tree, Mutation.model_validate({"patch": operations}).patch or ())


@pytest.mark.parametrize(
    ("tree", "operation", "expected"),
    [
        ({"foo": "bar"}, {"op": "add", "path": "/baz", "value": "qux"}, {"baz": "qux", "foo": "bar"}),
        ({"foo": ["a", "b"]}, {"op": "add", "path": "/foo/1", "value": "q"}, {"foo": ["a", "q", "b"]}),
        ({"foo": ["a"]}, {"op": "add", "path": "/foo/-", "value": ["b"]}, {"foo": ["a", ["b"]]}),
        ({"foo": ["a"]}, {"op": "add", "path": "/foo/1", "value": "b"}, {"foo": ["a", "b"]}),
        ({"a": 1}, {"op": "add", "path": "/a", "value": None}, {"a": None}),
        ({"a": 1}, {"op": "add", "path": "", "value": {"b": 2}}, {"b": 2}),
        ({"baz": 1, "foo": 2}, {"op": "remove", "path": "/baz"}, {"foo": 2}),
        ({"foo": ["a", "b", "c"]}, {"op": "remove", "path": "/foo/1"}, {"foo": ["a", "c"]}),
        ({"foo": 1}, {"op": "replace", "path": "/foo", "value": 2}, {"foo": 2}),
        ({"a": {"b": 1}, "c": {}}, {"op": "move", "from": "/a/b", "path": "/c/d"}, {"a": {}, "c": {"d": 1}}),
        ({"a": [1, 2, 3]}, {"op": "move", "from": "/a/0", "path": "/a/2"}, {"a": [2, 3, 1]}),
        ({"a": {"b": 1}}, {"op": "copy", "from": "/a", "path": "/c"}, {"a": {"b": 1}, "c": {"b": 1}}),
        ({"a": 1}, {"op": "test", "path": "/a", "value": 1.0}, {"a": 1}),
        ({"/": 9, "~1": 10}, {"op": "test", "path": "/~01", "value": 10}, {"/": 9, "~1": 10}),
        ({"/": 9}, {"op": "remove", "path": "/~1"}, {}),
        ({"": 1}, {"op": "remove", "path": "/"}, {}),
    ],
)
def test_operations(tree: Any, operation: dict[str, Any], expected: Any) -> None:
    assert patched(tree, operation) == expected


@pytest.mark.parametrize(
    ("tree", "operation", "message"),
    [
        ({"a": 1}, {"op": "add", "path": "/b/c", "value": 1}, "nothing at this path"),
        ({"a": 1}, {"op": "add", "path": "/a/c", "value": 1}, "no mapping and no list"),
        ({"a": [1]}, {"op": "add", "path": "/a/2", "value": 1}, "the list has no place '2'"),
        ({"a": [1]}, {"op": "add", "path": "/a/01", "value": 1}, "the list has no place '01'"),
        ({"a": [1]}, {"op": "remove", "path": "/a/-"}, "the list has no place '-'"),
        ({"a": [1]}, {"op": "remove", "path": "/a/-1"}, "the list has no place '-1'"),
        ({}, {"op": "remove", "path": "/a"}, "nothing at this path"),
        ({}, {"op": "replace", "path": "/a", "value": 1}, "nothing at this path"),
        ({"a": 1}, {"op": "test", "path": "/a", "value": True}, "another one"),
        ({"a": {"b": {}}}, {"op": "move", "from": "/a", "path": "/a/b/c"}, "into itself"),
        ({"a": 1}, {"op": "copy", "path": "/b"}, "the field from is missing"),
        ({"a": 1}, {"op": "add", "path": "/b"}, "the field value is missing"),
    ],
)
def test_what_does_not_fit_is_named(tree: Any, operation: dict[str, Any], message: str) -> None:
    with pytest.raises(PatchFailed) as caught:
        patched(tree, {"op": "test", "path": "", "value": tree}, operation)

    assert message in str(caught.value)
    assert str(caught.value).startswith(f"patch[1] ({operation['op']} ")


def test_the_tree_and_the_patch_stay_as_they_are() -> None:
    tree: dict[str, Any] = {"a": {"b": 1}}
    value = {"c": [1]}

    result = patched(
        tree, {"op": "add", "path": "/d", "value": value}, {"op": "add", "path": "/d/c/-", "value": 2}
    )

    assert result == {"a": {"b": 1}, "d": {"c": [1, 2]}}
    assert (tree, value) == ({"a": {"b": 1}}, {"c": [1]})


@pytest.mark.parametrize(
    ("tree", "patch", "expected"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_merge_patches(tree: Any, patch: Any, expected: Any) -> None:
    before = repr(tree)

    assert merge_patch(tree, patch) == expected
    assert repr(tree) == before
