"""Content `manifests`: which files of the folder are read.

A pattern without a slash is matched against the file's name, one with a slash against its path in the
content folder, where `*` stays inside one folder and `**` does not. Folders are searched to the bottom.
Names that begin with a point are not read: `.github/workflows/ci.yaml` is no manifest.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from convoy.api.content import ManifestsContent
from convoy.api.errors import Unsupported
from convoy.render.folder import content_folder, content_path, inside
from convoy.render.globs import BadGlob, Glob
from convoy.render.objects import File

MAX_FILES: Final = 20_000
MAX_BYTES: Final = 64 * 1024 * 1024
"""Of all files together; a render of 5,000 objects has about 3 MB."""


def manifest_files(root: Path, path: str, content: ManifestsContent) -> list[File]:
    """Read the files below `root/path` that the patterns select.

    Raises:
        Unsupported: no such folder, something leads out of the source, or it is too much.
    """
    folder = content_folder(root, path)
    wanted = _Patterns(content)
    files: list[File] = []
    left = MAX_BYTES
    for name in _walk(folder):
        if not wanted.select(name):
            continue
        real = inside(root, folder / name, subject=f"{name}: the symlink")
        if not real.is_file():
            raise Unsupported(f"{name} is no regular file")
        left -= real.stat().st_size
        _check(len(files) + 1, left)
        files.append(File(name, real.read_bytes()))
    return files


def manifest_files_in_memory(files: Mapping[str, bytes], path: str, content: ManifestsContent) -> list[File]:
    """Do the same for files that are in memory.

    Raises:
        Unsupported: no such folder, a pattern is wrong, or it is too much.
    """
    at = content_path(path)
    wanted = _Patterns(content)
    below = [
        File(str(name.relative_to(at)), data)
        for name, data in ((PurePosixPath(text), data) for text, data in files.items())
        if name.is_relative_to(at)
    ]
    if not below and at.parts:
        raise Unsupported(f"spec.content.path: the source has no folder {path!r}")
    selected = [file for file in below if not _hidden(file.path) and wanted.select(file.path)]
    _check(len(selected), MAX_BYTES - sum(len(file.data) for file in selected))
    return selected


class _Patterns:
    def __init__(self, content: ManifestsContent) -> None:
        self._include = _globs(content.include, "include")
        self._exclude = _globs(content.exclude, "exclude")

    def select(self, path: str) -> bool:
        return self._any(self._include, path) and not self._any(self._exclude, path)

    @staticmethod
    def _any(globs: Iterable[tuple[bool, Glob]], path: str) -> bool:
        name = path.rpartition("/")[2]
        return any(glob.fits(path if whole else name) for whole, glob in globs)


def _globs(patterns: Iterable[str], field: str) -> list[tuple[bool, Glob]]:
    try:
        return [("/" in text, Glob(text.removeprefix("./"))) for text in patterns]
    except BadGlob as error:
        raise Unsupported(f"spec.content.manifests.{field}: {error}") from error


def _walk(folder: Path) -> Iterator[str]:
    """Yield the relative paths of all files that are not hidden."""
    for at, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        here = Path(at)
        for name in folders:
            if (here / name).is_symlink():
                link = (here / name).relative_to(folder).as_posix()
                raise Unsupported(f"{link} is a symlink to a folder, which is not followed")
        for name in names:
            if not name.startswith("."):
                yield (here / name).relative_to(folder).as_posix()


def _hidden(path: str) -> bool:
    return any(part.startswith(".") for part in path.split("/"))


def _check(files: int, bytes_left: int) -> None:
    if files > MAX_FILES or bytes_left < 0:
        raise Unsupported(f"the content has more than {MAX_FILES} files or {MAX_BYTES} bytes of manifests")
