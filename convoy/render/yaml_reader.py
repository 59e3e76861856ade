"""Reads YAML and JSON files as kubectl reads them (D3).

PyYAML's own loaders would make 190:20:30 a number, 2031-05-06 a date and `y` a text, keep the last of two
equal keys, and build 10^9 objects from nine lines of aliases. Here libyaml parses, and the scalars get the
meaning that `sigs.k8s.io/yaml` gives them, which kubectl and the API server use; equal keys are refused. No
message quotes a value, since the file may hold Secrets.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

from yaml.cyaml import CSafeLoader
from yaml.error import MarkedYAMLError
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from yaml.reader import ReaderError

from convoy.api.errors import Unsupported
from convoy.render.scalars import json_number, key_text, plain_scalar

MAX_DEPTH: Final = 200
"""Levels of nesting. The deepest CRD schemas known have about 60."""

_TAG: Final = "tag:yaml.org,2002:"
_PLAIN: Final = "plain"
_NODE_COST: Final = 64


@dataclass(slots=True)
class Budget:
    """How much one render may read, aliases written out: about a million values or 64 MiB of text (D5)."""

    left: int = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Document:
    """One document of a file. An empty one has the tree None."""

    tree: Any = field(repr=False)
    number: int
    """Counted from 1, empty documents included."""
    line: int
    """Where its content begins, counted from 1."""


def read_documents(data: bytes, *, name: str, budget: Budget | None = None) -> list[Document]:
    """Read every document of a file; `name` is for messages, and `.json` at its end makes the file JSON.

    Raises:
        Unsupported: the file cannot be read; the message names the file, the document and the line.
    """
    budget = budget or Budget()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Unsupported(f"{name}, line {line}: the file is not UTF-8 text") from None
    if name.endswith(".json"):
        return list(_read_json(text, name=name, budget=budget))
    return list(_YamlFile(text, name=name, budget=budget).documents())


class _Composer(CSafeLoader):
    """libyaml's nodes, with no meaning given to scalars yet."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0

    def descend_resolver(self, *_: Any) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH + 2:
            raise _TooDeep

    def ascend_resolver(self) -> None:
        self._depth -= 1

    def resolve(self, kind: type[Node], _value: Any, implicit: Any) -> str:
        return _PLAIN if kind is ScalarNode and implicit[0] else _TAG + "str"


class _TooDeep(Exception):
    pass


class _YamlFile:
    """Builds the trees of one file."""

    def __init__(self, text: str, *, name: str, budget: Budget) -> None:
        self._text = text
        self._name = name
        self._budget = budget
        self._number = 0
        self._line = 1

    def documents(self) -> Iterator[Document]:
        composer: _Composer | None = None
        try:
            composer = _Composer(self._text)
            while True:
                self._number += 1
                node = composer.get_node() if composer.check_node() else None
                if node is None:
                    return
                self._line = node.start_mark.line + 1
                yield Document(self._build(node, 0), self._number, self._line)
        except _TooDeep:
            self._refuse(f"nested more than {MAX_DEPTH} levels deep")
        except MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            if mark is not None:
                # What is missing at the end is reported behind the end.
                self._line = min(mark.line, self._text.rstrip().count("\n")) + 1
            self._refuse(f"this is no valid YAML: {error.problem or error.context}")
        except ReaderError as error:
            self._line = self._text.encode().count(b"\n", 0, error.position) + 1
            self._refuse("this is no valid YAML: it holds a character that YAML does not allow")
        finally:
            if composer is not None:
                composer.dispose()

    def _refuse(self, what: str, node: Node | None = None) -> NoReturn:
        line = self._line if node is None else node.start_mark.line + 1
        raise Unsupported(f"{self._name}, document {self._number}, line {line}: {what}") from None

    def _build(self, node: Node, depth: int) -> Any:
        if depth > MAX_DEPTH:
            self._refuse(f"nested more than {MAX_DEPTH} levels deep, or an alias that holds itself")
        self._budget.left -= _NODE_COST + (len(node.value) if isinstance(node, ScalarNode) else 0)
        if self._budget.left < 0:
            self._refuse("the files are too big, or their aliases write out to too much")
        if isinstance(node, ScalarNode):
            return self._value(node)
        if isinstance(node, SequenceNode):
            return [self._build(item, depth + 1) for item in node.value]
        return self._mapping(node, depth)

    def _mapping(self, node: Node, depth: int) -> dict[str, Any]:
        tree: dict[str, Any] = {}
        own: set[str] = set()
        for key_node, value_node in node.value:
            if key_node.tag == _TAG + "merge" or (key_node.tag == _PLAIN and key_node.value == "<<"):
                self._merge(value_node, tree, depth)
                continue
            key = self._key(key_node)
            if key in own:
                self._refuse(f"the key {key!r} stands here twice", key_node)
            own.add(key)
            tree[key] = self._build(value_node, depth + 1)
        return tree

    def _merge(self, node: Node, tree: dict[str, Any], depth: int) -> None:
        # As kubectl: what is merged overrides the keys before it; of several, the first wins.
        sources = [node] if isinstance(node, MappingNode) else node.value
        if isinstance(node, ScalarNode) or not all(isinstance(source, MappingNode) for source in sources):
            self._refuse("the value of << is no mapping and no list of mappings", node)
        for source in reversed(sources):
            tree.update(self._build(source, depth + 1))

    def _key(self, node: Node) -> str:
        text = key_text(self._scalar(node)) if isinstance(node, ScalarNode) else None
        if text is None:
            self._refuse("a key must be a text, a number or a boolean", node)
        self._budget.left -= len(text)
        return text

    def _value(self, node: ScalarNode) -> Any:
        value = self._scalar(node)
        if isinstance(value, (str, bool)) or value is None:
            return value
        if not math.isfinite(value):
            self._refuse("JSON has no form for .nan and .inf", node)
        return json_number(value)

    def _scalar(self, node: ScalarNode) -> Any:
        if node.tag == _PLAIN:
            return plain_scalar(node.value)
        if node.tag == _TAG + "str" or not node.tag.startswith(_TAG):
            return node.value
        if node.tag == _TAG + "binary":
            return self._binary(node)
        return self._tagged(node, node.tag.removeprefix(_TAG))

    def _tagged(self, node: ScalarNode, tag: str) -> Any:
        result = plain_scalar(node.value)
        fits = {
            "null": result is None,
            "bool": isinstance(result, bool),
            "int": isinstance(result, int) and not isinstance(result, bool),
            "float": isinstance(result, (int, float)) and not isinstance(result, bool),
            "timestamp": True,
        }
        if not fits.get(tag, False):
            self._refuse(f"the value is no !!{tag}", node)
        return node.value if tag == "timestamp" else result

    def _binary(self, node: ScalarNode) -> str:
        try:
            return base64.b64decode(node.value).decode()
        except (binascii.Error, UnicodeDecodeError):
            self._refuse("the value of !!binary is no base64 of UTF-8 text", node)


def _read_json(text: str, *, name: str, budget: Budget) -> Iterator[Document]:
    """Read one JSON value after the other, as kubectl does."""
    budget.left -= 4 * len(text)
    if budget.left < 0:
        raise Unsupported(f"{name}: the files are too big")
    decoder = json.JSONDecoder(
        object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite, parse_int=_integer
    )
    at, number = _skip_space(text, 0), 1
    while at < len(text):
        line = text.count("\n", 0, at) + 1
        try:
            tree, end = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            raise Unsupported(f"{name}, document {number}, line {error.lineno}: {error.msg}") from None
        except RecursionError:
            what = f"nested more than {MAX_DEPTH} levels deep"
            raise Unsupported(f"{name}, document {number}, line {line}: {what}") from None
        except _BadJson as error:
            raise Unsupported(f"{name}, document {number}, line {line}: {error}") from None
        yield Document(tree, number, line)
        at, number = _skip_space(text, end), number + 1


class _BadJson(Exception):
    pass


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    tree = dict(pairs)
    if len(tree) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _BadJson(f"the key {twice!r} stands twice in one object")
    return tree


def _no_constant(text: str) -> NoReturn:
    raise _BadJson(f"JSON has no {text}")


def _finite(text: str) -> float | int:
    value = float(text)
    if not math.isfinite(value):
        raise _BadJson("a number is too big")
    return json_number(value)


def _integer(text: str) -> float | int:
    return _finite(text) if len(text) > 20 else json_number(int(text))


def _skip_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at
