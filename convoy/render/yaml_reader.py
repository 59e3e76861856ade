"""Reads YAML and JSON files as kubectl reads them (D3).

PyYAML's own loaders would make 190:20:30 a number, 2031-05-06 a date and `y` a text, keep the last of two
equal keys, and build 10^9 objects from nine lines of aliases. Here libyaml parses, and the scalars get the
meaning that `sigs.k8s.io/yaml` gives them, which kubectl and the API server use; equal keys are refused. No
message quotes a value, since the file may hold Secrets.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Callable, Iterator
from typing import Any, Final, NoReturn

from yaml._yaml import CParser
from yaml.error import MarkedYAMLError
from yaml.events import (
    AliasEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamEndEvent,
)
from yaml.reader import ReaderError

from convoy.api.errors import Unsupported
from convoy.render.documents import MAX_DEPTH, Budget, Document
from convoy.render.json_reader import read_json, skip_space
from convoy.render.scalars import json_number, key_text, plain_scalar

_TAG: Final = "tag:yaml.org,2002:"
_RESOLVED: Final = frozenset(_TAG + name for name in ("null", "bool", "int", "float", "timestamp"))
_OPEN: Final = object()
_NODE_COST: Final = 64


def read_documents(data: bytes, *, name: str, budget: Budget | None = None) -> list[Document]:
    """Read every document of a file; `name` is for messages, and `.json` at its end makes the file JSON.

    Any other file that begins like JSON and is JSON is read as such: kubectl looks at the text and not at the name,
    and YAML has no word for JSON's `\\ud83c\\udfbb`.

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
        return list(read_json(text, name=name, budget=budget))
    if text[skip_space(text, 0) :][:1] == "{":
        left = budget.left
        try:
            return list(read_json(text, name=name, budget=budget))
        except Unsupported:
            budget.left = left  # flow style, or broken: YAML's word is the one to tell
    return list(_YamlFile(text, name=name, budget=budget).documents())


class _YamlFile:
    """Builds the trees of one file.

    From libyaml's events and not from its nodes: of a big chart those would cost as much again as everything else.
    """

    def __init__(self, text: str, *, name: str, budget: Budget) -> None:
        self._text = text
        self._name = name
        self._budget = budget
        self._number = 0
        self._line = 1
        self._parser = CParser(text)
        self._next: Callable[[], Any] = self._parser.get_event
        self._anchors: dict[str, Any] = {}
        """What an alias stands for: the event of a scalar, else the tree, `_OPEN` until it is complete."""

    def documents(self) -> Iterator[Document]:
        try:
            self._number = 1
            self._next()  # the start of the stream
            while type(self._next()) is not StreamEndEvent:
                self._anchors.clear()
                event = self._next()
                self._line = event.start_mark.line + 1
                tree = self._build(event, 0)
                self._next()  # the end of the document
                yield Document(tree, self._number, self._line)
                self._number += 1
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
            self._parser.dispose()

    def _refuse(self, what: str, event: Any = None) -> NoReturn:
        line = self._line if event is None else event.start_mark.line + 1
        raise Unsupported(f"{self._name}, document {self._number}, line {line}: {what}") from None

    def _spend(self, cost: int) -> None:
        self._budget.left -= cost
        if self._budget.left < 0:
            self._refuse("the files are too big, or their aliases write out to too much")

    def _build(self, event: Any, depth: int) -> Any:
        """Return the tree that begins with this event."""
        if type(event) is ScalarEvent:
            if event.anchor is not None:
                self._anchors[event.anchor] = event
            return self._value(event)
        if type(event) is AliasEvent:
            return self._aliased(event, depth)
        self._check_depth(depth, event)
        self._spend(_NODE_COST)
        if event.anchor is not None:
            self._anchors[event.anchor] = _OPEN
        tree = self._mapping(depth) if type(event) is MappingStartEvent else self._sequence(depth)
        if event.anchor is not None:
            self._anchors[event.anchor] = tree
        return tree

    def _check_depth(self, depth: int, event: Event) -> None:
        if depth > MAX_DEPTH:
            self._refuse(f"nested more than {MAX_DEPTH} levels deep", event)

    def _sequence(self, depth: int) -> list[Any]:
        items: list[Any] = []
        while type(event := self._next()) is not SequenceEndEvent:
            items.append(self._build(event, depth + 1))
        return items

    def _mapping(self, depth: int) -> dict[str, Any]:
        tree: dict[str, Any] = {}
        own: set[str] = set()
        while type(event := self._next()) is not MappingEndEvent:
            if _is_merge(event):
                self._merge(tree, self._build(self._next(), depth + 1), event)
                continue
            key = self._key(event)
            if key in own:
                self._refuse(f"the key {key!r} stands here twice", event)
            own.add(key)
            tree[key] = self._build(self._next(), depth + 1)
        return tree

    def _merge(self, tree: dict[str, Any], value: Any, event: Event) -> None:
        # As kubectl: what is merged overrides the keys before it; of several, the first wins.
        sources = value if isinstance(value, list) else [value]
        if not all(isinstance(source, dict) for source in sources):
            self._refuse("the value of << is no mapping and no list of mappings", event)
        for source in reversed(sources):
            tree.update(source)

    def _aliased(self, event: AliasEvent, depth: int) -> Any:
        found = self._anchored(event)
        return self._value(found) if type(found) is ScalarEvent else self._copy(found, depth, event)

    def _anchored(self, event: AliasEvent) -> Any:
        if event.anchor not in self._anchors:
            # It is not named: an unquoted password that begins with an asterisk is an alias too.
            self._refuse("this is no valid YAML: an alias (*) of which nothing before has the anchor", event)
        found = self._anchors[event.anchor]
        if found is _OPEN:
            self._refuse("an alias that holds itself", event)
        return found

    def _copy(self, tree: Any, depth: int, event: Event) -> Any:
        """Write out what an alias stands for, at the price of what it holds."""
        self._check_depth(depth, event)
        self._spend(_NODE_COST + (len(tree) if isinstance(tree, str) else 0))
        if isinstance(tree, list):
            return [self._copy(item, depth + 1, event) for item in tree]
        if not isinstance(tree, dict):
            return tree
        self._spend(sum(map(len, tree)))
        return {key: self._copy(value, depth + 1, event) for key, value in tree.items()}

    def _key(self, event: Any) -> str:
        scalar = self._anchored(event) if type(event) is AliasEvent else event
        if type(scalar) is not ScalarEvent:
            self._refuse("a key must be a text, a number or a boolean", event)
        if scalar.anchor is not None:
            self._anchors[scalar.anchor] = scalar
        text = key_text(self._scalar(scalar))
        if text is None:
            self._refuse("a key must be a text, a number or a boolean", event)
        self._spend(len(text))
        return text

    def _value(self, event: ScalarEvent) -> Any:
        self._spend(_NODE_COST + len(event.value))
        value = self._scalar(event)
        if isinstance(value, (str, bool)) or value is None:
            return value
        if not math.isfinite(value):
            self._refuse("JSON has no form for .nan and .inf", event)
        return json_number(value)

    def _scalar(self, event: ScalarEvent) -> Any:
        if event.tag is None:
            return plain_scalar(event.value) if event.implicit[0] else event.value
        if event.tag == _TAG + "binary":
            return self._binary(event)
        if event.tag in _RESOLVED:
            return self._tagged(event, event.tag.removeprefix(_TAG))
        return event.value  # !!str, and any tag that means nothing to kubectl

    def _tagged(self, event: ScalarEvent, tag: str) -> Any:
        result = plain_scalar(event.value)
        fits = {
            "null": result is None,
            "bool": isinstance(result, bool),
            "int": isinstance(result, int) and not isinstance(result, bool),
            "float": isinstance(result, (int, float)) and not isinstance(result, bool),
            "timestamp": True,
        }
        if not fits[tag]:
            self._refuse(f"the value is no !!{tag}", event)
        return event.value if tag == "timestamp" else result

    def _binary(self, event: ScalarEvent) -> str:
        try:
            return base64.b64decode(event.value).decode()
        except (binascii.Error, UnicodeDecodeError):
            self._refuse("the value of !!binary is no base64 of UTF-8 text", event)


def _is_merge(event: Any) -> bool:
    if type(event) is not ScalarEvent or event.value != "<<":
        return False
    return event.tag == _TAG + "merge" or (event.tag in (None, "!") and event.implicit[0])
