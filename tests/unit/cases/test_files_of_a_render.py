"""Files of a render: given as they are, or made large."""

from __future__ import annotations

from tests.e2e.runner.files import INLINE_LIMIT, Repeated, expand, is_large


def test_a_text_is_the_files_content() -> None:
    assert expand({"a.yaml": "x: $SEQ\n"}) == {"a.yaml": "x: $SEQ\n"}


def test_repetitions_are_counted_and_joined_by_a_document_line() -> None:
    assert Repeated(text="n: $SEQ\n", repeat=3).expand() == "n: 0001\n---\nn: 0002\n---\nn: 0003\n"
    assert Repeated(text="n: $SEQ", repeat=2).expand() == "n: 0001\n---\nn: 0002\n"


def test_a_count_above_four_digits_is_written_in_full() -> None:
    assert Repeated(text="n: $SEQ\n", repeat=10_000).expand().endswith("n: 9999\n---\nn: 10000\n")


def test_the_padding_is_so_many_letters() -> None:
    assert Repeated(text="a: $PAD\n", pad=5).expand() == "a: xxxxx\n"
    assert Repeated(text="a: '$PAD'\n").expand() == "a: ''\n"


def test_files_are_large_when_together_they_exceed_what_a_release_takes() -> None:
    half = "x" * (INLINE_LIMIT // 2)

    assert not is_large({"a": half, "b": half})
    assert is_large({"a": half, "b": half, "c": "é"})
