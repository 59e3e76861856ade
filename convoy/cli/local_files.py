"""The files that are given to `render` and `validate`: their documents, each with the lines of its fields."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from convoy.api.errors import Unsupported
from convoy.api.names import GROUP
from convoy.api.objects import Manifest
from convoy.api.release import Release
from convoy.cli.errors import Failure
from convoy.render.documents import Budget
from convoy.render.yaml_reader import read_documents

STDIN = Path("-")
_SUFFIXES = {".yaml", ".yml", ".json"}
_CANNOT_OPEN = 2


@dataclass(frozen=True, slots=True)
class GivenFile:
    """A file and its bytes."""

    name: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class GivenDocument:
    """One document of a file."""

    file: str
    line: int
    tree: Any
    node: yaml.Node | None = field(default=None, repr=False)
    """The same in PyYAML's own form, which knows lines; None in files that it reads otherwise."""

    @property
    def kind(self) -> str:
        """`Release` or `Cluster` of convoy's group, another kind, or empty."""
        return str(self.tree.get("kind") or "") if isinstance(self.tree, dict) else ""

    @property
    def is_ours(self) -> bool:
        """Whether it is a resource of convoy's."""
        version = self.tree.get("apiVersion") if isinstance(self.tree, dict) else None
        return isinstance(version, str) and version.partition("/")[0] == GROUP

    def line_of(self, path: Sequence[str | int]) -> int:
        """Return the line of a field, or of the nearest of its parents that is there."""
        node = self.node
        line = self.line
        for part in path:
            found = _below(node, part)
            if found is None:
                break
            line, node = found
        return line

    def block_start(self, path: Sequence[str | int]) -> int:
        """Return the line before the first of a text's own: a block (`|`) begins below its key."""
        node = self.node
        for part in path:
            found = _below(node, part)
            if found is None:
                return self.line_of(path)
            node = found[1]
        assert node is not None
        block = isinstance(node, yaml.ScalarNode) and node.style in ("|", ">")
        line: int = node.start_mark.line
        return line + 1 if block else line


@dataclass(frozen=True, slots=True)
class Resources:
    """All documents that were given."""

    documents: tuple[GivenDocument, ...]

    def releases(self) -> Iterator[Release]:
        """Return the Releases. Raises Unsupported naming what is wrong, Failure where there is none."""
        found = [each for each in self.documents if each.is_ours and each.kind == "Release"]
        if not found:
            raise Failure("the files hold no Release")
        for document in found:
            try:
                yield Release.read(document.tree)
            except Unsupported as error:
                raise Failure(f"{document.file}:{document.line}: {error.message}") from None

    def find(self, kind: str, name: str) -> Manifest | None:
        """Return an object of the core group by kind and name."""
        for document in self.documents:
            tree = document.tree
            if document.kind == kind and tree.get("apiVersion") == "v1":
                metadata = tree.get("metadata")
                if isinstance(metadata, dict) and metadata.get("name") == name:
                    return dict(tree)
        return None


def open_files(paths: Iterable[Path]) -> list[GivenFile]:
    """Read files, and the manifests of folders. Raises Failure."""
    try:
        return [
            GivenFile(str(path), path.read_bytes()) if path != STDIN else GivenFile("stdin", _stdin())
            for given in paths
            for path in (_in_folder(given) if given.is_dir() else [given])
        ]
    except OSError as error:
        raise Failure(f"{error.filename}: {error.strerror}", code=_CANNOT_OPEN) from None


def read_file(file: GivenFile) -> list[GivenDocument]:
    """Read the documents of a file. Raises Unsupported naming the line."""
    found = [
        each for each in read_documents(file.data, name=file.name, budget=Budget()) if each.tree is not None
    ]
    nodes = _nodes(file)
    return [GivenDocument(file.name, each.line, each.tree, nodes.get(each.number)) for each in found]


def read_resources(paths: Iterable[Path]) -> Resources:
    """Read all documents of all files. Raises Failure."""
    try:
        return Resources(tuple(each for file in open_files(paths) for each in read_file(file)))
    except Unsupported as error:
        raise Failure(error.message) from None


def _nodes(file: GivenFile) -> dict[int, yaml.Node]:
    try:
        nodes = yaml.compose_all(file.data, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        return {number: node for number, node in enumerate(nodes, 1) if node is not None}
    except (yaml.YAMLError, UnicodeDecodeError):
        return {}


def _below(node: yaml.Node | None, part: str | int) -> tuple[int, yaml.Node] | None:
    """Return the line of a field or element, and its value."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == str(part):
                return key.start_mark.line + 1, value
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        value = node.value[part]
        return value.start_mark.line + 1, value
    return None


def _in_folder(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in _SUFFIXES and path.is_file())


def _stdin() -> bytes:
    return sys.stdin.buffer.read()
