"""How answers are written: tables as kubectl prints them, and `-o json|yaml|name|wide`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from convoy.api.objects import Manifest, ObjectKey
from convoy.cli.style import printable


class Format(StrEnum):
    """`-o` of commands about resources."""

    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"
    NAME = "name"


class ObjectFormat(StrEnum):
    """`-o` of commands that print whole objects, or nothing but their names."""

    JSON = "json"
    YAML = "yaml"
    NAME = "name"


class Data(StrEnum):
    """`-o` of commands whose answer is no resource."""

    JSON = "json"
    YAML = "yaml"


def say(text: str) -> None:
    """Write a line to stdout, without control characters."""
    say_painted(printable(text))


def say_painted(text: str) -> None:
    """Write a line that has colours, whose parts were made printable before."""
    sys.stdout.write(text + "\n")


def note(text: str) -> None:
    """Write a line for the person, beside the output, to stderr."""
    sys.stderr.write(printable(text) + "\n")


def print_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write aligned columns: each as wide as its widest cell and three spaces, as kubectl does."""
    lines = [[cell_of(value) for value in row] for row in (header, *rows)]
    widths = [max(max(len(line[column]) for line in lines) + 3, 6) for column in range(len(header) - 1)]
    sys.stdout.writelines(
        "".join(cell.ljust(width) for cell, width in zip(line, [*widths, 0], strict=True)).rstrip() + "\n"
        for line in lines
    )


def print_tree(tree: Any, data: str) -> None:
    """Write a tree as JSON or YAML, as kubectl does: without managedFields."""
    if isinstance(tree, dict):
        for each in (tree, *(tree.get("items") or ())):
            if isinstance(each, dict) and isinstance(each.get("metadata"), dict):
                each["metadata"].pop("managedFields", None)
    if data == Data.JSON:
        sys.stdout.write(json.dumps(tree, indent=4, ensure_ascii=False) + "\n")
        return
    import yaml

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    sys.stdout.write(yaml.dump(tree, Dumper=dumper, allow_unicode=True, default_flow_style=False))


def print_object(tree: Manifest, output: str) -> None:
    """Write a resource as JSON or YAML, or its name."""
    if output == ObjectFormat.NAME:
        say(name_of(tree))
    else:
        print_tree(tree, output)


def name_of(tree: Manifest) -> str:
    """Return `release.convoy.kumodo.io/shop`, as `-o name` writes it."""
    group = tree["apiVersion"].rpartition("/")[0]
    return f"{tree['kind'].lower()}.{group}/{tree['metadata']['name']}"


def key_in(part: Mapping[str, Any]) -> ObjectKey:
    """Return the object that a part of an answer is about."""
    return ObjectKey(part.get("group") or "", part["kind"], part.get("namespace") or "", part["name"])


def short_ref(ref: str | None) -> str:
    """Return a renderRef as tables have it: unambiguous for a person, and taken back by `pin`."""
    return (ref or "").removeprefix("sha256:")[:12]


def cell_of(value: object) -> str:
    """Return a value as a cell of a table: one line, printable."""
    return "" if value is None else printable(" ".join(str(value).split()))
