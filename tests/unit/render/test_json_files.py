"""D1, D3: a .json file is read as JSON, and so is JSON in a file of any other name, as kubectl does."""

from __future__ import annotations

from convoy.render.yaml_reader import read_documents


def test_escaped_pairs_that_yaml_has_no_word_for_are_characters() -> None:
    (document,) = read_documents(rb'{"mood": "\ud83c\udfbb"}', name="a.json")

    assert document.tree == {"mood": "🎻"}


def test_one_object_may_follow_the_other() -> None:
    documents = read_documents(b'{"a": 1}\n\n{"a": 2}\n', name="a.json")

    assert [(each.number, each.line, each.tree) for each in documents] == [(1, 1, {"a": 1}), (2, 3, {"a": 2})]


def test_json_in_a_yaml_file_is_json_too() -> None:
    text = b'\n\t{"mood": "\\ud83c\\udfbb", "path": "a\\/b", "yes": 1.0}\n{"a": 2}\n'

    documents = read_documents(text, name="a.yaml")

    assert [each.tree for each in documents] == [{"mood": "🎻", "path": "a/b", "yes": 1}, {"a": 2}]


def test_a_yaml_file_in_flow_style_is_yaml() -> None:
    documents = read_documents(b"{a: on, b: {c: 017}}\n---\n{a: 1}\n", name="a.yaml")

    assert [each.tree for each in documents] == [{"a": True, "b": {"c": 15}}, {"a": 1}]


def test_an_empty_file_has_no_document() -> None:
    assert read_documents(b" \n", name="a.json") == []


def test_a_byte_order_mark_is_skipped() -> None:
    (document,) = read_documents(b'\xef\xbb\xbf{"a": 1.0}', name="a.json")

    assert document.tree == {"a": 1}
    assert type(document.tree["a"]) is int
