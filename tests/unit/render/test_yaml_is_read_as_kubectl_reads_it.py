"""D3: booleans and octals are YAML 1.1, sexagesimals and dates are text, integral floats are integers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convoy.api.errors import Unsupported
from tests.unit.render.reading import tree

SCALARS: dict[str, Any] = {
    "on": True,
    "Off": False,
    "y": True,
    "NO": False,
    "tRue": "tRue",
    "017": 15,
    "0o17": 15,
    "018": 18,
    "-017": -15,
    "12:30:45": "12:30:45",
    "190:20:30": "190:20:30",
    "1e3": 1000,
    "1_000": 1000,
    "0x1F": 31,
    "0x_1F": 31,
    "0b11": 3,
    "+0b11": 3,
    "0b": "0b",
    "2031-05-06": "2031-05-06",
    "2031-05-06T07:08:09Z": "2031-05-06T07:08:09Z",
    "1.50": 1.5,
    "1.": 1,
    ".5": 0.5,
    "+.5": 0.5,
    "._5": "._5",
    ".": ".",
    "-0.0": 0,
    "+12": 12,
    "1e400": "1e400",
    "9223372036854775807": 9223372036854775807,
    "9223372036854775808": 9223372036854775808.0,
    "18446744073709551616": 18446744073709551616.0,
    "'017'": "017",
    '"yes"': "yes",
    "!!str 12": "12",
    '!!int "12"': 12,
    "!!float 3": 3,
    "!!binary aGVsbG8=": "hello",
    "!own text": "text",
    "!!own 12": "12",
    "! 12": "12",
    "! yes": "yes",
    "~": None,
    "Null": None,
    "": None,
}
KEYS = {
    "on": "true",
    "no": "false",
    "017": "15",
    "018": "18",
    "1.50": "1.5",
    "12:30": "12:30",
    "2031-05-06": "2031-05-06",
    "1234567.5": "1.2345675e+06",
    "1e10": "1e+10",
    "1e-5": "1e-05",
    "16777217.0": "1.6777216e+07",
    ".5": "0.5",
    "1e99": ".inf",
}
MERGES = """
base: &base {a: 1, b: 2}
before: {<<: *base, a: 9}
after: {a: 9, <<: *base}
several: {<<: [*base, {b: 7, c: 8}]}
quoted: {"<<": text}
"""


def kubectl() -> str:
    path = os.pathsep.join(filter(None, (os.environ.get("CONVOY_TOOLS"), os.environ.get("PATH"))))
    found = shutil.which("kubectl", path=path)
    if found is None:
        pytest.skip("no kubectl in CONVOY_TOOLS or PATH")
    return found


def as_go_does(text: str) -> int | float:
    return int(text) if int(text) < 2**63 else float(text)


@pytest.mark.parametrize("text", SCALARS)
def test_a_plain_word_or_number_means_what_kubectl_takes_it_for(text: str) -> None:
    value = tree(f"x: {text}\n")["x"]

    assert value == SCALARS[text]
    assert type(value) is type(SCALARS[text])


@pytest.mark.parametrize("text", KEYS)
def test_a_key_becomes_the_text_that_kubectl_makes_of_it(text: str) -> None:
    assert tree(f"{text}: v\n") == {KEYS[text]: "v"}


def test_what_is_merged_overrides_the_keys_before_it() -> None:
    read = tree(MERGES)

    assert read["before"] == {"a": 9, "b": 2}
    assert read["after"] == {"a": 1, "b": 2}
    assert read["several"] == {"a": 1, "b": 2, "c": 8}
    assert read["quoted"] == {"<<": "text"}


def test_kubectl_itself_agrees_on_all_of_it(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    lines = [
        "apiVersion: example.org/v1",
        "kind: Foo",
        "metadata: {name: x, annotations: {a: b}}",
        "scalars:",
    ]
    lines += [f"  k{number}: {text}" for number, text in enumerate(SCALARS)]
    lines += ["keys:", *(f"  {key}: v" for key in KEYS), "merges:"]
    lines += [f"  {line}" for line in MERGES.strip().splitlines()]
    file.write_text("\n".join(lines))
    argv = [kubectl(), "annotate", "--local", "--overwrite", "-f", str(file), "a=b", "-o", "json"]

    done = subprocess.run([*argv, "--kubeconfig", "/dev/null"], check=True, capture_output=True)

    assert tree(file.read_text()) == json.loads(done.stdout, parse_int=as_go_does)


@given(st.text(max_size=8))
def test_any_text_in_quotes_stays_that_text(text: str) -> None:
    assert tree(json.dumps({"x": text}, ensure_ascii=True), "a.json")["x"] == text
    if text.isprintable():
        assert tree(f"x: {json.dumps(text, ensure_ascii=False)}\n")["x"] == text


@given(st.text(alphabet="0123456789+-._exXoObBaAfF", min_size=1, max_size=10))
def test_whatever_looks_like_a_number_is_a_number_or_its_own_text(text: str) -> None:
    try:
        value = tree(f"x: {text}\n")["x"]
    except Unsupported:
        return  # no YAML: "-" alone opens a list
    assert isinstance(value, (int, float)) or value in (text, None, [None])


def test_an_alias_is_written_out_and_shares_nothing() -> None:
    read = tree("a: &a {k: [1, &s yes]}\nb: *a\nc: [*a, *s]\n*s : key\na2: &a other\nd: *a\n")
    assert read == {
        "a": {"k": [1, True]},
        "b": {"k": [1, True]},
        "c": [{"k": [1, True]}, True],
        "true": "key",
        "a2": "other",
        "d": "other",
    }
    assert read["a"] is not read["b"]
    assert read["a"]["k"] is not read["c"][0]["k"]


def test_an_anchor_ends_with_its_document() -> None:
    with pytest.raises(Unsupported, match=r"document 2, line 3: .*nothing before has the anchor"):
        tree("a: &a 1\n---\nb: *a\n")
