"""Lists whose elements have a key are compared element by element, so a change points at the field itself."""

from typing import Any

from convoy.drift.changes import ABSENT, field_changes

KEYED = [
    {
        "manager": "convoy",
        "operation": "Apply",
        "fieldsV1": {"f:env": {'k:{"name":"A"}': {".": {}, "f:name": {}, "f:value": {}}}},
    }
]


def env(**values: str) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in values.items()]


def changes(live: Any, desired: Any) -> list[tuple[str, Any, Any]]:
    found = field_changes(
        live={"metadata": {"managedFields": KEYED}, "env": live}, desired={"metadata": {}, "env": desired}
    )
    return [(change.pointer, change.live, change.desired) for change in found]


def test_a_changed_element_points_at_its_field() -> None:
    assert changes(env(X="1", A="1"), env(X="1", A="2")) == [("/env/1/value", "1", "2")]


def test_an_element_in_the_middle_that_is_gone_points_at_its_place_in_the_render() -> None:
    assert changes(env(A="1", C="3"), env(A="1", B="2", C="3")) == [
        ("/env/1", ABSENT, {"name": "B", "value": "2"})
    ]


def test_an_element_too_many_points_at_its_place_in_the_live_object() -> None:
    assert changes(env(A="1", B="2", C="3"), env(A="1", C="3")) == [
        ("/env/1", {"name": "B", "value": "2"}, ABSENT)
    ]


def test_a_field_behind_a_shifted_element_points_into_the_live_object() -> None:
    found = changes(env(X="0", A="1"), env(A="2"))
    assert found == [("/env/0", {"name": "X", "value": "0"}, ABSENT), ("/env/1/value", "1", "2")]


def test_another_order_is_a_change_of_the_list() -> None:
    live, desired = env(A="1", B="2"), env(B="2", A="1")
    assert changes(live, desired) == [("/env", live, desired)]


def test_elements_that_share_a_key_are_compared_by_position() -> None:
    live, desired = [*env(A="1"), *env(A="2")], [*env(A="1"), *env(A="3")]
    assert changes(live, desired) == [("/env/1/value", "2", "3")]
