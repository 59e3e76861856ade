"""`validate`: everything that is wrong with Releases and Clusters in files, each problem with its file and line.

The models take what the API server takes; unknown fields, which the server drops with a warning, are looked up in the
schema of the CRDs. The files inside a Release are read one by one, so that each tells its own problem.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from convoy.api.cluster import Cluster
from convoy.api.common import Resource
from convoy.api.content import ManifestsContent
from convoy.api.crd import generate_crds
from convoy.api.errors import ConvoyError, Unsupported
from convoy.api.objects import counted
from convoy.api.release import Release
from convoy.cli.local_files import GivenDocument, Resources, open_files, read_file
from convoy.cli.local_render import render_release
from convoy.render.drafts import read_objects
from convoy.render.objects import File

_PLACE = re.compile(
    r"(?P<file>[^:]+?)(?:, document \d+)?(?:, line (?P<line>\d+))?(?P<item>(?:, item \d+)*): (?P<what>.*)",
    re.DOTALL,
)
_FIELD = re.compile(r"(?:spec|mutations|lifecycle)\b[\w.\[\]]*")
_MODELS: dict[str, type[Resource]] = {"Release": Release, "Cluster": Cluster}


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing that is wrong."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        """`file:line: message`, which editors and CI systems understand."""
        return f"{self.file}:{self.line}: {self.message}"

    def tree(self) -> dict[str, str | int]:
        """Return it as a JSON tree."""
        return {"file": self.file, "line": self.line, "message": self.message}


@dataclass(frozen=True, slots=True)
class Report:
    """What came of the files."""

    problems: tuple[Problem, ...]
    summary: str


def validate_files(paths: Iterable[Path], *, source: Path | None = None) -> Report:
    """Check files. Raises Failure if one cannot be opened."""
    problems: list[Problem] = []
    documents: list[GivenDocument] = []
    files = open_files(paths)
    for file in files:
        try:
            documents += read_file(file)
        except Unsupported as error:
            problems.append(_placed(error.message, file.name))
    resources = Resources(tuple(documents))
    ours = [each for each in documents if each.is_ours and each.kind in _MODELS]
    for document in ours:
        problems += _of_document(document, resources, source)
    counts = [counted(sum(each.kind == kind for each in ours), kind) for kind in _MODELS]
    summary = f"{counted(len(files), 'file')}, {', '.join(counts)}: no problems"
    return Report(tuple(sorted(dict.fromkeys(problems))), summary)


def _of_document(document: GivenDocument, resources: Resources, source: Path | None) -> Iterator[Problem]:
    schema = _schemas()[document.kind]
    for path in _unknown_fields(document.tree, schema, ()):
        yield _at(document, path, f"{_dotted(path)}: there is no such field")
    try:
        resource = _MODELS[document.kind].model_validate(document.tree)
    except ValidationError as error:
        for fault in error.errors(include_url=False, include_context=False, include_input=False):
            what = fault["msg"].removeprefix("Value error, ")
            yield _at(document, fault["loc"], f"{_dotted(fault['loc']) or document.kind}: {what}")
        return
    if not resource.metadata.name:
        yield _at(document, ("metadata",), "metadata.name: must be set")
    if isinstance(resource, Release):
        yield from _of_release(document, resource, resources, source)


def _of_release(
    document: GivenDocument, release: Release, resources: Resources, source: Path | None
) -> Iterator[Problem]:
    found = list(_of_inline_files(document, release)) if source is None else []
    yield from found
    local = source is not None or release.spec.source.git is None
    if found or not local:
        return
    try:
        render_release(release, resources, source=source)
    except ConvoyError as error:
        yield _of_render(document, release, error, source)


def _of_inline_files(document: GivenDocument, release: Release) -> Iterator[Problem]:
    """Read each manifest alone: a render stops at its first problem."""
    inline, content = release.spec.source.inline, release.spec.content
    if inline is None or content.manifests != ManifestsContent() or content.path != ".":
        return
    for name, text in inline.files.items():
        try:
            read_objects([File(name, text.encode())])
        except Unsupported as error:
            yield _in_inline(document, name, error.message)


def _of_render(document: GivenDocument, release: Release, error: ConvoyError, source: Path | None) -> Problem:
    match = _PLACE.fullmatch(error.message) or re.search(
        r"\((?P<file>[^()]+?), document \d+, line (?P<line>\d+)\)$", error.message
    )
    name = match["file"] if match else ""
    if match and source is not None and (source / release.spec.content.path / name).is_file():
        file = str(source / release.spec.content.path / name)
        return Problem(file, int(match["line"] or 1), _what(error.message, name))
    inline = release.spec.source.inline
    if match and source is None and inline is not None:
        whole = str(Path(release.spec.content.path) / name)
        if whole in inline.files:
            return _in_inline(document, whole, error.message)
    field = _FIELD.match(error.message)
    return _at(document, _parts(field[0]) if field else ("spec", "source"), error.message)


def _parts(dotted: str) -> tuple[str | int, ...]:
    """Return `mutations[0].patch` as the way to a node; the opposite of `_dotted`."""
    return tuple(int(part) if part.isdigit() else part for part in re.findall(r"\w+", dotted))


def _in_inline(document: GivenDocument, name: str, message: str) -> Problem:
    """Return a problem of a file inside a Release at its line of the file around it."""
    path = ("spec", "source", "inline", "files", name)
    match = re.search(r"line (\d+)", message)
    line = document.block_start(path) + (int(match[1]) if match else 1)
    return Problem(document.file, line, message)


def _what(message: str, name: str) -> str:
    match = _PLACE.fullmatch(message)
    return match["what"] if match and match["file"] == name else message


def _placed(message: str, file: str) -> Problem:
    match = _PLACE.fullmatch(message)
    if match is None:
        return Problem(file, 1, message)
    return Problem(file, int(match["line"] or 1), match["what"])


def _at(document: GivenDocument, path: Sequence[str | int], message: str) -> Problem:
    return Problem(document.file, document.line_of(path), message)


def _dotted(path: Sequence[str | int]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")


def _schemas() -> dict[str, Any]:
    return {
        crd["spec"]["names"]["kind"]: crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        for crd in generate_crds()
    }


def _unknown_fields(
    tree: Any, schema: Mapping[str, Any], path: tuple[str | int, ...]
) -> Iterator[tuple[str | int, ...]]:
    if isinstance(tree, list) and "items" in schema:
        for index, item in enumerate(tree):
            yield from _unknown_fields(item, schema["items"], (*path, index))
    if not isinstance(tree, dict) or schema.get("x-kubernetes-preserve-unknown-fields"):
        return
    known, others = schema.get("properties"), schema.get("additionalProperties")
    for name, value in tree.items():
        if known is not None and name in known:
            yield from _unknown_fields(value, known[name], (*path, name))
        elif isinstance(others, dict):
            yield from _unknown_fields(value, others, (*path, name))
        elif known is not None:
            yield (*path, name)
