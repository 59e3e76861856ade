"""Bytes on the wire, and the one form that is hashed."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convoy.kube.encode import apply_body, canonical, decode, decode_cut, is_cut


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_body_reads_back_as_it_was_and_holds_nothing_that_yaml_changes(text: str) -> None:
    body = apply_body({"data": {"k": text}})
    assert json.loads(body) == {"data": {"k": text}}
    raw = body.decode("utf-8")
    assert not [c for c in raw if 0x7F <= ord(c) <= 0x9F or c in "\ufffe\uffff" or ord(c) < 0x20]


def test_characters_beyond_the_first_plane_are_raw_utf8_and_no_surrogates() -> None:
    assert apply_body({"k": "🎻\u0085\u007f\uffff"}) == '{"k":"🎻\\u0085\\u007f\\uffff"}'.encode()


def test_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(ValueError, match="surrogates not allowed"):
        apply_body({"k": "\ud83d"})


def test_equal_trees_give_equal_bytes() -> None:
    assert canonical({"b": {"d": 1, "c": [2]}, "a": "é"}) == canonical({"a": "é", "b": {"c": [2], "d": 1}})
    assert canonical({"b": 1, "a": None}) == b'{"a":null,"b":1}'


@pytest.mark.parametrize(("opened", "closed"), [(b'{"a":', b"}"), (b"[", b"]")])
def test_what_is_nested_too_deeply_is_cut_and_the_rest_stays(opened: bytes, closed: bytes) -> None:
    deep = opened * 5000 + b'"]}\\""' + closed * 5000
    body = b'{"items":[{"name":"deep","spec":' + deep + b'},{"name":"flat","spec":{"a":"{[\\"]"}}]}'
    with pytest.raises(RecursionError):
        decode(body)
    deep_item, flat = decode_cut(body)["items"]
    assert deep_item["name"] == "deep"
    assert is_cut(deep_item)
    assert flat == {"name": "flat", "spec": {"a": '{["]'}}
    assert not is_cut(flat)


def test_a_body_that_is_not_deep_is_cut_nowhere() -> None:
    tree = {"a": [{"b": []}, "x\\"], "c": {}}
    assert decode_cut(canonical(tree)) == tree


def test_a_body_that_ends_in_its_depths_is_no_json() -> None:
    with pytest.raises(msgspec.DecodeError):
        decode_cut(b"[" * 5000)
