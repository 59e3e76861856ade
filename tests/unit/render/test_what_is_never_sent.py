"""D3: null is "not set", status and aggregated rules are never sent, stringData becomes data."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.render.reading import only

SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n"


def test_null_is_dropped_and_zero_false_and_empty_stay() -> None:
    spec = "spec: {lid: null, litres: 0, boiling: false, scale: [], labels: {}, handle: ~, deep: {a: null}, text: ''}"
    found = only(f"apiVersion: e.org/v1\nkind: Kettle\nmetadata: {{name: a, annotations: null}}\n{spec}\n")

    assert found["spec"] == {"litres": 0, "boiling": False, "scale": [], "labels": {}, "deep": {}, "text": ""}
    assert found["metadata"] == {"name": "a"}


def test_null_in_a_list_keeps_its_place() -> None:
    found = only(
        "apiVersion: e.org/v1\nkind: Kettle\nmetadata: {name: a}\nspec: {scale: [a, null, {b: null}]}\n"
    )

    assert found["spec"]["scale"] == ["a", None, {}]


def test_status_is_dropped() -> None:
    assert "status" not in only(
        "apiVersion: e.org/v1\nkind: Lamp\nmetadata: {name: a}\nstatus: {phase: Off}\n"
    )


@pytest.mark.parametrize(("rule", "left"), [("aggregationRule: {}\n", False), ("", True)])
def test_rules_of_an_aggregated_cluster_role_are_dropped(rule: str, left: bool) -> None:
    api = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: a}\nrules: []\n"

    assert ("rules" in only(api + rule)) is left


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("stringData: {k: sap}\n", {"k": "c2Fw"}),
        ("data: {a: eA==, k: eA==}\nstringData: {k: é}\n", {"a": "eA==", "k": "w6k="}),
        ("data: null\nstringData: {k: ''}\n", {"k": ""}),
        ("stringData: {k: null}\n", None),
        ("stringData: {}\n", None),
        ("stringData: {k: 7043318862}\n", {"k": 7043318862}),
    ],
)
def test_string_data_becomes_data(text: str, data: Any) -> None:
    found = only(SECRET + text)

    assert "stringData" not in found
    assert found.get("data") == data


@pytest.mark.parametrize("text", ["stringData: [a]\n", "data: text\nstringData: {a: b}\n"])
def test_a_wrong_shape_is_left_to_the_dry_run(text: str) -> None:
    assert "stringData" in only(SECRET + text)


def test_only_the_core_secret_is_one() -> None:
    found = only("apiVersion: e.org/v1\nkind: Secret\nmetadata: {name: a}\nstringData: {k: v}\n")

    assert found["stringData"] == {"k": "v"}
