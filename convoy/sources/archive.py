"""Reads .tar and .tar.gz archives that a tenant named: charts, HTTP sources, OCI layers (D5).

An archive of a few kilobytes can write out to terabytes, name `/etc/passwd`, put a link where its next file goes, or
have a header that fills the memory. So it is read as a stream with everything counted, files are written by their own
checked paths before any link of the archive is there, and links come last and are followed once to see where they lead.
"""

from __future__ import annotations

import gzip
import os
import shutil
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Final, Self, cast

MAX_FILES: Final = 50_000
MAX_BYTES: Final = 512 * 1024 * 1024
_MAX_HEADER: Final = 1024 * 1024
_MAX_PATH: Final = 1024
_HEADERS: Final = frozenset(
    {
        tarfile.XHDTYPE,
        tarfile.XGLTYPE,
        tarfile.SOLARIS_XHDTYPE,
        tarfile.GNUTYPE_LONGNAME,
        tarfile.GNUTYPE_LONGLINK,
    }
)


class BadArchive(ValueError):
    """The archive is damaged, too big, or holds something that is not taken; the message names the entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveLimits:
    """How much one archive may hold."""

    files: int = MAX_FILES
    """Entries of any kind."""
    bytes: int = MAX_BYTES
    """Written out."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file or a link; folders are made for them as needed."""

    path: PurePosixPath
    content: IO[bytes] | None
    """Of a file; to be read before the next entry."""
    link: str = ""


def read_archive(stream: IO[bytes], limits: ArchiveLimits | None = None) -> Iterator[Entry]:
    """Yield the files and symlinks of an archive in their order.

    Raises:
        BadArchive: it is none, is too big, or an entry is not taken.
    """
    limits = limits or ArchiveLimits()
    try:
        counted = cast(IO[bytes], _Counted(_plain(stream), limits))
        with tarfile.open(fileobj=counted, mode="r|", tarinfo=_BoundedInfo) as tar:
            left = limits.bytes
            for number, info in enumerate(tar, 1):
                left -= info.size
                if number > limits.files:
                    raise BadArchive(f"it has more than {limits.files} entries")
                if left < 0:
                    raise BadArchive(f"it writes out to more than {limits.bytes} bytes")
                entry = _entry(tar, info)
                if entry is not None:
                    yield entry
    except (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, UnicodeError) as error:
        raise BadArchive(f"it is no .tar.gz, or is damaged: {error}") from None


def unpack(stream: IO[bytes], target: Path, *, strip: int = 0, limits: ArchiveLimits | None = None) -> None:
    """Write an archive's files below `target`, an existing folder, readable by nobody else.

    `strip` is the number of leading folders that are taken off each name.

    Raises:
        BadArchive: as in `read_archive`; or two entries have one name, or a link leads out. What was written stays.
    """
    links: list[tuple[Path, str, PurePosixPath]] = []
    checked: set[Path] = set()
    for entry in read_archive(stream, limits):
        parts = entry.path.parts[strip:]
        if not parts:
            continue
        path = target.joinpath(*parts)
        if entry.content is None:
            links.append((path, entry.link, entry.path))
            continue
        if path.parent not in checked:
            # Links of another archive, which was unpacked here before.
            _check_inside(path.parent, target, entry.path)
            checked.add(path.parent)
        _write(path, entry.content, entry.path)
    for path, link, name in links:
        # Before it is made: a link that stands already must not lead this one out.
        _check_inside(path.parent, target, name)
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.symlink_to(link)
        except OSError as error:
            raise BadArchive(f"{name}: {error.strerror}") from None
    for path, _, name in links:
        _check_inside(path, target, name)


def _check_inside(path: Path, target: Path, name: PurePosixPath) -> None:
    try:
        inside = path.resolve().is_relative_to(target.resolve())
    except (OSError, RuntimeError):  # a circle
        inside = False
    if not inside:
        raise BadArchive(f"{name}: the symlink leads out of the archive")


def _plain(stream: IO[bytes]) -> IO[bytes]:
    """Return the stream without its gzip, if it has one."""
    head = stream.read(2)
    stream.seek(0)
    return cast(IO[bytes], gzip.GzipFile(fileobj=stream)) if head == b"\x1f\x8b" else stream


def _entry(tar: tarfile.TarFile, info: tarfile.TarInfo) -> Entry | None:
    path = PurePosixPath(info.name)
    if len(info.name) > _MAX_PATH or "\0" in info.name or "\\" in info.name:
        raise BadArchive(f"{info.name[:100]!r} is no name for a file")
    if path.is_absolute() or ".." in path.parts:
        raise BadArchive(f"{info.name!r} leads out of the archive")
    if info.isdir():
        return None
    if info.issym():
        if PurePosixPath(info.linkname).is_absolute():
            raise BadArchive(f"{info.name}: the symlink leads out of the archive")
        return Entry(path, None, info.linkname)
    if not info.isreg() or info.issparse():
        raise BadArchive(f"{info.name} is neither a file nor a folder nor a symlink")
    return Entry(path, tar.extractfile(info))


def _write(path: Path, content: IO[bytes], name: PurePosixPath) -> None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            shutil.copyfileobj(content, file)
    except FileExistsError:
        raise BadArchive(f"{name} is in it twice, or is a file and a folder") from None
    except OSError as error:
        if error.strerror is None:
            raise
        raise BadArchive(f"{name}: {error.strerror}") from None


class _BoundedInfo(tarfile.TarInfo):
    """Headers of bounded size: tarfile reads a whole one into memory, and its size is what the archive says."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        info = super().frombuf(buf, encoding, errors)
        if info.type in _HEADERS and info.size > _MAX_HEADER:
            raise BadArchive(f"it has a header of {info.size} bytes")
        return info


class _Counted:
    """A stream that ends the reading when more comes out of it than is allowed."""

    def __init__(self, stream: IO[bytes], limits: ArchiveLimits) -> None:
        self._stream = stream
        self._limit = limits.bytes
        # Headers and padding come on top of the files.
        self._left = limits.bytes + 2048 * limits.files

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise BadArchive(f"it writes out to more than {self._limit} bytes")
        return data
