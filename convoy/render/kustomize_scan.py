"""Looks through a kustomization before kustomize runs: what it names must lie inside the source (D5).

kustomize itself would clone `github.com/…` as a base, download any file given as a URL, take bases from
anywhere on this machine, and inflate charts. Its messages about that are also hard to read; here the first
offending file is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, Final

from convoy.api.errors import Unsupported
from convoy.render.documents import Budget
from convoy.render.folder import inside
from convoy.render.yaml_reader import read_documents

NAMES: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")
MAX_FOLDERS: Final = 1000
MAX_FILE_BYTES: Final = 4 * 1024 * 1024

_HELM: Final = ("helmCharts", "helmChartInflationGenerator", "helmGlobals")
_FOLDERS: Final = ("resources", "bases", "components")
_PLUGINS: Final = ("generators", "transformers", "validators")
_FILES: Final = ("crds", "configurations", "patchesStrategicMerge")
_WITH_PATH: Final = ("patches", "patchesJson6902", "replacements")
_MAPS: Final = ("configMapGenerator", "secretGenerator")
_FUNCTION: Final = "config.kubernetes.io/function"
_REMOTE: Final = re.compile(
    r"://|^git@|^git::|^gh:|^[\w.-]+\.(com|org|io|net|dev)[:/]|[?&](ref|version|timeout)="
)


def scan(root: Path, folder: Path) -> None:
    """Check the kustomization in `folder` and every one that it builds on.

    Raises:
        Unsupported: no kustomization, a remote base or file, a path out of the source, a chart, or a plugin.
    """
    _Scan(root.resolve()).folder(folder)


class _Scan:
    def __init__(self, root: Path) -> None:
        self._root = root
        self._seen: set[Path] = set()
        self._budget = Budget()

    def folder(self, folder: Path) -> None:
        real = folder.resolve()
        if real in self._seen:
            return
        self._seen.add(real)
        if len(self._seen) > MAX_FOLDERS:
            raise Unsupported(f"the kustomization builds on more than {MAX_FOLDERS} folders")
        found = [real / name for name in NAMES if (real / name).is_file()]
        if len(found) != 1:
            what = "more than one kustomization file" if found else "no kustomization.yaml"
            raise Unsupported(f"folder {self._name(real)!r} has {what}")
        for tree in self._read(found[0]):
            self._kustomization(tree, real, self._name(found[0]))

    def _kustomization(self, tree: dict[str, Any], folder: Path, name: str) -> None:
        for field in _HELM:
            if tree.get(field):
                raise Unsupported(f"{name}: {field} is not supported; use spec.content.helm")
        for field in _FOLDERS:
            for entry in _texts(tree.get(field)):
                path = self._local(folder, entry, f"{name}: {field}")
                if path.is_dir():
                    self.folder(path)
        for field, entry in _files(tree):
            self._local(folder, entry, f"{name}: {field}")
        for field in _PLUGINS:
            for entry in _texts(tree.get(field)):
                self._plugin(folder, entry, f"{name}: {field}")

    def _plugin(self, folder: Path, entry: str, subject: str) -> None:
        """Check a generator, transformer or validator, written here or in a file: kustomize's own kinds only."""
        if "\n" in entry:
            trees = self._trees(entry.encode(), subject)
        else:
            path = self._local(folder, entry, subject)
            if path.is_dir():
                self.folder(path)
                return
            trees = self._read(path)
        for tree in trees:
            metadata = tree.get("metadata")
            annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
            is_function = isinstance(annotations, dict) and any(_FUNCTION in key for key in annotations)
            if tree.get("apiVersion") != "builtin" or is_function:
                raise Unsupported(f"{subject}: {tree.get('kind')} is a plugin; it would run code as convoy")
            if "Helm" in str(tree.get("kind")):
                raise Unsupported(f"{subject}: {tree['kind']} is not supported; use spec.content.helm")
            for field, path_text in _files({"patches": [tree], **{key: [tree] for key in _MAPS}}):
                self._local(folder, path_text, f"{subject}: {field}")

    def _local(self, folder: Path, entry: str, subject: str) -> Path:
        if _REMOTE.search(entry):
            raise Unsupported(f"{subject}: {entry!r} is remote; only what lies in the source is taken")
        if PurePosixPath(entry).is_absolute():
            raise Unsupported(f"{subject}: {entry!r} is an absolute path")
        path = inside(self._root, folder / entry, subject=f"{subject}: {entry!r}")
        if not path.exists():
            raise Unsupported(f"{subject}: the source has no {entry!r}")
        return path

    def _read(self, path: Path) -> list[dict[str, Any]]:
        inside(self._root, path, subject=self._name(path))
        if path.stat().st_size > MAX_FILE_BYTES:
            raise Unsupported(f"{self._name(path)} has more than {MAX_FILE_BYTES} bytes")
        return self._trees(path.read_bytes(), self._name(path))

    def _trees(self, data: bytes, name: str) -> list[dict[str, Any]]:
        documents = read_documents(data, name=name, budget=self._budget)
        for document in documents:
            if document.tree is not None and not isinstance(document.tree, dict):
                raise Unsupported(f"{name}, line {document.line}: a mapping is expected")
        return [document.tree for document in documents if document.tree is not None]

    def _name(self, path: Path) -> str:
        return path.relative_to(self._root).as_posix() if path.is_relative_to(self._root) else path.name


def _files(tree: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each field that names a file, with the name. A patch may also stand there in full."""
    for field in _FILES:
        yield from ((field, text) for text in _texts(tree.get(field)) if "\n" not in text and "{" not in text)
    for field in _WITH_PATH:
        yield from ((field, entry["path"]) for entry in _maps(tree.get(field)) if _is_text(entry.get("path")))
    for field in _MAPS:
        for entry in _maps(tree.get(field)):
            yield from ((field, text.rpartition("=")[2]) for text in _texts(entry.get("files")))
            yield from ((field, text) for text in _texts(entry.get("envs")))
            yield from ((field, text) for text in _texts([entry.get("env")]))
    openapi = tree.get("openapi")
    if isinstance(openapi, dict) and _is_text(openapi.get("path")):
        yield "openapi", openapi["path"]


def _texts(value: Any) -> list[str]:
    return [entry for entry in value if _is_text(entry)] if isinstance(value, list) else []


def _maps(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""
