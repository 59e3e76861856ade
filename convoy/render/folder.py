"""Paths inside a source: none may lead out of it, not by `..`, not by a symlink, not by being absolute (D5)."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from convoy.api.errors import Unsupported


def inside(root: Path, path: Path, *, subject: str) -> Path:
    """Return the real path of something that exists below `root`.

    Raises:
        Unsupported: it leads out of the source.
    """
    real = path.resolve()
    if not real.is_relative_to(root.resolve()):
        raise Unsupported(f"{subject} leads out of the source")
    return real


def content_folder(root: Path, path: str) -> Path:
    """Return the folder of `spec.content.path`.

    Raises:
        Unsupported: it leads out of the source, or is no folder there.
    """
    folder = root / content_path(path)
    if not folder.is_dir():
        raise Unsupported(f"spec.content.path: the source has no folder {path!r}")
    inside(root, folder, subject=f"spec.content.path {path!r}")
    return folder


def content_path(path: str) -> PurePosixPath:
    """Return `spec.content.path` as a relative path.

    Raises:
        Unsupported: it leads out of the source.
    """
    relative = PurePosixPath(path)
    if relative.is_absolute() or ".." in relative.parts or "\0" in path:
        raise Unsupported(f"spec.content.path {path!r} must be a folder inside the source")
    return relative
