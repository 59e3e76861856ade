"""Bytes on the wire, and the one form that is hashed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convoy.kube.encode import apply_body, canonical


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
