"""D1."""

from __future__ import annotations

import pytest

from convoy.api.errors import Unsupported
from tests.unit.render.reading import objects


def names(text: str) -> list[str]:
    return [str(each) for each in objects(a=text)]


def test_empty_documents_comments_and_null_are_no_objects() -> None:
    text = "# first\n\n---\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\nnull\n---\n# end\n---\n"

    assert names(text) == ["ConfigMap default/a"]


def test_the_items_of_a_list_take_its_place() -> None:
    text = """
apiVersion: v1
kind: List
metadata: {resourceVersion: ""}
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}
- {apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Secret, metadata: {name: a}}]}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
"""
    assert names(text) == ["ConfigMap default/b", "Secret default/a", "ConfigMap default/a"]


def test_items_of_a_typed_list_may_leave_out_what_its_kind_says() -> None:
    assert names("{apiVersion: v1, kind: ConfigMapList, items: [{metadata: {name: a}}]}") == [
        "ConfigMap default/a"
    ]


@pytest.mark.parametrize("kind", ["List", "ConfigMapList"])
def test_a_list_without_items_is_empty(kind: str) -> None:
    assert objects(allow_empty=True, a=f"{{apiVersion: v1, kind: {kind}, items: null}}") == ()


def test_an_object_with_a_name_and_a_field_items_is_no_list() -> None:
    assert names("{apiVersion: e.org/v1, kind: AllowList, metadata: {name: a}, items: [1]}") == [
        "AllowList.e.org a"
    ]


def test_a_list_with_a_name_is_a_list_all_the_same() -> None:
    secret = "{apiVersion: v1, kind: Secret, metadata: {name: a}}"
    found = names(f"{{apiVersion: v1, kind: List, metadata: {{name: all}}, items: [{secret}]}}")
    assert found == ["Secret default/a"]


def test_an_item_that_is_no_object_is_named() -> None:
    with pytest.raises(Unsupported, match=r"a.yaml, document 1, line 1, item 2: .*this is a text"):
        objects(
            a="{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Secret, metadata: {name: a}}, text]}"
        )


def test_items_that_are_no_list_are_refused() -> None:
    with pytest.raises(Unsupported, match=r"items of List must be a list"):
        objects(a="{apiVersion: v1, kind: List, items: {a: b}}")


def test_files_come_in_the_byte_order_of_their_paths() -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\n"
    found = objects(b=text % "b", B=text % "upper", a__z=text % "deep", é=text % "accent")

    assert [each.key.name for each in found] == ["upper", "deep", "b", "accent"]
