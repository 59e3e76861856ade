"""Custom resources against the CRD of the same render (D8)."""

from __future__ import annotations

from typing import Any

import pytest

from convoy.api.objects import key_of
from convoy.api.rendered import RenderedObject
from convoy.sync.crd_check import RenderedCrds


def rendered(manifest: dict[str, Any]) -> RenderedObject:
    return RenderedObject(key_of(manifest), manifest["apiVersion"], 0, manifest)


def crd(spec_schema: dict[str, Any], **more: Any) -> RenderedObject:
    schema = {"type": "object", "properties": {"spec": spec_schema}, **more}
    return rendered(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "teapots.example.org"},
            "spec": {
                "group": "example.org",
                "names": {"kind": "Teapot"},
                "versions": [
                    {"name": "v1", "served": True, "schema": {"openAPIV3Schema": schema}},
                    {"name": "v0", "served": False},
                ],
            },
        }
    )


def teapot(spec: Any, *, version: str = "v1", **more: Any) -> RenderedObject:
    return rendered(
        {
            "apiVersion": f"example.org/{version}",
            "kind": "Teapot",
            "metadata": {"name": "round", "labels": {"a": "b"}},
            "spec": spec,
            **more,
        }
    )


def faults(schema: dict[str, Any], spec: Any, **more: Any) -> list[str]:
    return RenderedCrds([crd(schema)]).faults(teapot(spec, **more))


CUPS = {"type": "object", "properties": {"cups": {"type": "integer", "maximum": 8}}}


def test_knows_the_kinds_of_the_render() -> None:
    crds = RenderedCrds([crd(CUPS)])
    assert crds.has(teapot({}))
    assert not crds.has(rendered({"apiVersion": "example.org/v1", "kind": "Cup", "metadata": {"name": "c"}}))


def test_a_good_object_has_no_fault() -> None:
    assert faults(CUPS, {"cups": 4}) == []


def test_names_the_field_at_fault() -> None:
    assert faults(CUPS, {"cups": 9}) == ["spec.cups: 9 is greater than the maximum of 8"]


def test_names_a_field_that_is_not_declared() -> None:
    [fault] = faults(CUPS, {"cup": 4})
    assert "cup" in fault


def test_names_every_fault() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}
    assert len(faults(schema, {"a": "x", "b": 1})) == 2


def test_a_version_that_is_not_served_is_a_fault() -> None:
    [fault] = faults(CUPS, {"cups": 4}, version="v0")
    assert "v0 is not served" in fault


def test_status_and_metadata_are_left_to_the_server() -> None:
    assert faults(CUPS, {"cups": 4}, status={"whatever": 1}) == []


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"x-kubernetes-int-or-string": True}, 1),
        ({"x-kubernetes-int-or-string": True}, "1"),
        ({"type": "object", "x-kubernetes-preserve-unknown-fields": True}, {"free": [1]}),
        ({"type": "object", "additionalProperties": {"type": "string"}}, {"any": "text"}),
        ({"type": "string", "nullable": True}, None),
        ({"type": "string"}, None),  # null means not set
        ({"type": "object", "required": ["a"], "properties": {"a": {"type": "string", "default": "x"}}}, {}),
        ({"type": "string", "pattern": r"^\pL+$"}, "go only"),  # a pattern that only Go can read
        ({"type": "string", "format": "date-time"}, "not judged here"),
        (
            {
                "type": "object",
                "x-kubernetes-embedded-resource": True,
                "properties": {"spec": {"type": "object"}},
            },
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}},
        ),
        (
            {
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
            },
            {"a": "x"},
        ),
    ],
)
def test_lets_through_what_the_server_accepts(schema: dict[str, Any], value: Any) -> None:
    assert faults({"type": "object", "properties": {"f": schema}}, {"f": value}) == []


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"x-kubernetes-int-or-string": True}, 1.5),
        ({"type": "object", "additionalProperties": {"type": "string"}}, {"any": 1}),
        ({"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}, {}),
        ({"type": "integer", "minimum": 1, "exclusiveMinimum": True}, 1),
        ({"type": "array", "items": {"type": "integer"}}, [1, "2"]),
        ({"type": "string", "enum": ["a", "b"]}, "c"),
        ({"type": "string", "pattern": "^a$"}, "b"),
        ({"type": "string", "anyOf": [{"minLength": 3}, {"enum": ["x"]}]}, "y"),
        ({"type": "string", "not": {"enum": ["y"]}}, "y"),
        (
            {
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
            },
            {"a": "x", "b": "y"},
        ),
    ],
)
def test_finds_what_the_server_refuses(schema: dict[str, Any], value: Any) -> None:
    assert faults({"type": "object", "properties": {"f": schema}}, {"f": value})


@pytest.mark.parametrize(
    ("pattern", "value"),
    [
        ("^(a+)+$", "a" * 60 + "!"),
        ("(a|a)*b", "a" * 60),
        ("a*a*a*a*a*a*b", "a" * 10_000),
        ("^" + "a?" * 60 + "a" * 60 + "$", "a" * 59),
        ("(a|a)" * 60 + "b", "a" * 60),
        ("a*b", "a" * 100_000),
    ],
)
def test_a_pattern_that_may_take_for_ever_is_left_to_the_server(pattern: str, value: str) -> None:
    schema = {"allOf": [{"pattern": pattern}], "pattern": pattern}
    assert faults({"type": "object", "properties": {"f": schema}}, {"f": value}) == []


@pytest.mark.parametrize(
    ("pattern", "value"),
    [
        ("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "a-"),
        (r"^[\]*+]{2}$", "x"),
        (r"^\*\+\(\)\*$", "x"),
        ("^(a|b)$", "c"),
    ],
)
def test_a_usual_pattern_is_judged(pattern: str, value: str) -> None:
    assert faults({"type": "object", "properties": {"f": {"pattern": pattern}}}, {"f": value})


@pytest.mark.parametrize(
    "schema", [{"multipleOf": 0}, {"minimum": "x"}, {"type": "tea"}, {"enum": 5}, {"required": ["a", ["b"]]}]
)
def test_a_schema_that_is_none_is_left_to_the_server(schema: dict[str, Any]) -> None:
    faults({"type": "object", "properties": {"f": schema, "g": schema}}, {"f": 3, "g": {}})


def test_a_crd_that_is_nonsense_judges_nothing() -> None:
    broken = rendered(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "broken"},
            "spec": {"group": "example.org", "names": "none", "versions": 7},
        }
    )
    assert not RenderedCrds([broken]).has(teapot({}))
