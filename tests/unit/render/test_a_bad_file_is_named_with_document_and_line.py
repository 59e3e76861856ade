"""D3 and bad input: the file, the document and the line are named, a value never is."""

from __future__ import annotations

import pytest

from convoy.api.errors import Unsupported
from convoy.render.documents import Budget
from convoy.render.yaml_reader import read_documents

BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
REFUSED = {
    "a key twice": ("a: 1\nb: 2\na: 3\n", "document 1, line 3: the key 'a' stands here twice"),
    "keys that become equal": ("on: 1\nyes: 2\n", "line 2: the key 'true' stands here twice"),
    "broken in the second document": (
        "x: 1\n---\n\nfoo: [\nbar",
        "document 2, line 5: this is no valid YAML",
    ),
    "an unknown alias": ("a: *b\n", "line 1: this is no valid YAML: an alias"),
    "a list as a key": ("? [a]\n: b\n", "line 1: a key must be"),
    "null as a key": ("~: b\n", "a key must be"),
    "not a number": ("a: .nan\n", "JSON has no form"),
    "infinity": ("a: -.inf\n", "JSON has no form"),
    "a control character": ("a: 1\nb: \x01\n", "line 2: this is no valid YAML"),
    "half a surrogate pair": ('a: "\\ud800"\n', "no valid YAML"),
    "a wrong tag": ("a: !!int word\n", "the value is no !!int"),
    "an alias in itself": ("&a [*a]\n", "an alias that holds itself"),
    "deep flow lists": ("[" * 100_000, "nesting depth"),
    "deep block lists": ("- " * 100_000, "nested more than 200 levels"),
    "deep mappings": ("{a: " * 100_000, "nested more than 200 levels"),
    "billions of aliases": (BOMB, "aliases write out to too much"),
    "merged nonsense": ("<<: 3\n", "value of <<"),
}
REFUSED_JSON = {
    "a key twice": ('{"a": 1,\n "a": 2}', "document 1, line 1: the key 'a' stands twice"),
    "no JSON": ('{"a": 1}\n{"b"}', "document 2, line 2: Expecting"),
    "NaN": ('{"a": NaN}', "JSON has no NaN"),
    "a number without end": ('{"a": 1e999}', "a number is too big"),
    "deep": ("[" * 100_000, "nested more than 200 levels"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_yaml(case: str) -> None:
    text, message = REFUSED[case]

    with pytest.raises(Unsupported) as caught:
        read_documents(text.encode(), name="dir/app.yaml")

    assert caught.value.message.startswith("dir/app.yaml, document ")
    assert message in caught.value.message


@pytest.mark.parametrize("value", ["*k9-hunter", "&k9-hunter {", '"k9-hunter" x', "!!int k9-hunter"])
@pytest.mark.parametrize("name", ["app.yaml", "app.json"])
def test_a_password_that_means_something_in_yaml_is_not_shown(name: str, value: str) -> None:
    with pytest.raises(Unsupported) as caught:
        read_documents(f"{{password: {value}}}\n".encode(), name=name)

    assert "line 1" in caught.value.message
    assert "hunter" not in caught.value.message


@pytest.mark.parametrize("case", REFUSED_JSON)
def test_json(case: str) -> None:
    text, message = REFUSED_JSON[case]

    with pytest.raises(Unsupported) as caught:
        read_documents(text.encode(), name="app.json")

    assert message in caught.value.message


def test_a_file_that_is_no_utf8_text() -> None:
    with pytest.raises(Unsupported, match=r"a.yaml, line 2: the file is not UTF-8"):
        read_documents(b"a: 1\nb: \xff\n", name="a.yaml")


def test_one_budget_bounds_all_files_of_a_render() -> None:
    budget = Budget(1000)
    read_documents(b"a: 1\n", name="a.yaml", budget=budget)

    with pytest.raises(Unsupported, match=r"b.yaml.*too big"):
        read_documents(b"a: " + b"x" * 1000, name="b.yaml", budget=budget)


@pytest.mark.parametrize(
    "text", ["pw: [hunter2\n", "hunter2: [\n", "a: 'hunter2\n", "- hunter2: a: b\n", "%hunter2\n"]
)
def test_no_message_quotes_the_file(text: str) -> None:
    with pytest.raises(Unsupported) as caught:
        read_documents(text.encode(), name="a.yaml")

    assert "hunter2" not in caught.value.message
