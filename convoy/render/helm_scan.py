"""Looks through a chart before helm does: nothing in it may lead out of the source or onto the network (D5).

helm follows symlinks wherever they lead, so a link to `/etc/passwd` or to convoy's own service account token would be
a file of the chart. And it fetches what a values schema refers to, also from loopback addresses, which no proxy setting
prevents; the schema of such a chart is not checked.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from convoy.api.errors import Unsupported
from convoy.render.folder import inside
from convoy.sources.archive import ArchiveLimits, BadArchive, read_archive

MAX_FILES: Final = 20_000
MAX_BYTES: Final = 100 * 1024 * 1024
_MAX_SCHEMA_BYTES: Final = 5 * 1024 * 1024
_MAX_NESTED: Final = 5
_REFERENCES: Final = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
_SCHEMA: Final = "values.schema.json"
_PACKED: Final = (".tgz", ".tar.gz")
_LIMITS: Final = ArchiveLimits(files=MAX_FILES, bytes=MAX_BYTES)


def scan_chart(root: Path, chart: Path) -> bool:
    """Check a chart's folder and return whether its values schemas stand on their own.

    Raises:
        Unsupported: no chart, something leads out of the source, or it is too much.
    """
    if not (chart / "Chart.yaml").is_file():
        raise Unsupported("spec.content.helm: the folder of spec.content.path has no Chart.yaml")
    alone, files, left = True, 0, MAX_BYTES
    for path in _walk(root, chart):
        files, left = files + 1, left - path.stat().st_size
        if files > MAX_FILES or left < 0:
            raise Unsupported(f"the chart has more than {MAX_FILES} files or {MAX_BYTES} bytes")
        if path.name == _SCHEMA:
            alone = alone and _stands_alone(path.read_bytes())
        elif path.name.endswith(_PACKED) and path.parent.name == "charts":
            name = path.relative_to(chart).as_posix()
            alone = alone and all(map(_stands_alone, _packed_schemas(path.read_bytes(), name, _MAX_NESTED)))
    return alone


def _walk(root: Path, chart: Path) -> Iterator[Path]:
    for at, folders, names in os.walk(chart):
        for name in (*folders, *names):
            path = Path(at) / name
            subject = path.relative_to(chart).as_posix()
            if not path.is_symlink():
                continue
            inside(root, path, subject=f"{subject}: the symlink")
            if not path.is_file():
                raise Unsupported(f"{subject} is a symlink to a folder or to nothing, which is not followed")
        for name in names:
            path = Path(at) / name
            if not path.is_file():
                raise Unsupported(f"{path.relative_to(chart).as_posix()} is no regular file")
            yield path


def _packed_schemas(data: bytes, name: str, depth: int) -> Iterator[bytes]:
    """Yield the values schemas inside a packed chart and inside the charts packed in it."""
    if depth == 0:
        raise Unsupported(f"{name}: charts in charts, more than {_MAX_NESTED} deep")
    try:
        for entry in read_archive(io.BytesIO(data), _LIMITS):
            if entry.content is None:
                continue
            if entry.path.name == _SCHEMA:
                yield entry.content.read()
            elif entry.path.parent.name == "charts" and entry.path.name.endswith(_PACKED):
                yield from _packed_schemas(entry.content.read(), f"{name}/{entry.path}", depth - 1)
    except BadArchive as error:
        raise Unsupported(f"{name}: {error}") from None


def _stands_alone(schema: bytes) -> bool:
    """Whether a schema refers to nothing outside itself; what cannot be told does."""
    if len(schema) > _MAX_SCHEMA_BYTES:
        return False
    alone = True

    def look(pairs: list[tuple[str, Any]]) -> None:
        nonlocal alone
        for key, value in pairs:
            if key in _REFERENCES and not (isinstance(value, str) and value.startswith("#")):
                alone = False
            if key == "$schema" and not (isinstance(value, str) and _is_a_draft(value)):
                alone = False

    try:
        json.loads(schema, object_pairs_hook=look)
    except (ValueError, RecursionError):
        return False
    return alone


def _is_a_draft(uri: str) -> bool:
    """Whether a metaschema is one that helm has built in."""
    return uri.startswith(("http://json-schema.org/draft", "https://json-schema.org/draft"))
