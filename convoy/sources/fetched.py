"""What every source hands on: a revision at once, and the folder of files when somebody needs it."""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path, PurePosixPath

from convoy.api.errors import Unsupported


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """What the installation allows and where its tools are."""

    git: str = "git"
    """The git program, at least version 2.37."""
    allow_private_addresses: bool = False
    """Allows loopback, link-local and metadata addresses, and `file://` URLs, which read this machine (D41)."""
    allowed_networks: tuple[IPv4Network | IPv6Network, ...] = ()
    """Networks of such addresses that sources may point to nevertheless."""
    timeout: float = 30.0
    """Seconds for one step of a fetch: finding the revision, downloading it, writing the files."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A source at one revision."""

    revision: str
    """In a form that a person recognises: `main@sha1:…`, `inline@sha256:…`, `configmap/<name>@…`."""
    fingerprint: str
    """Equal only for equal files."""
    folder: Callable[[], AbstractAsyncContextManager[Path]] = field(repr=False)
    """Opens the folder with the files, which is there until the context ends."""
    files: Mapping[str, bytes] | None = field(default=None, repr=False)
    """The files, where they are in memory anyway: what needs no folder then writes nothing to a disk."""


def fetched_files(files: Mapping[str, bytes], *, revision: str, kind: str, cache: Path) -> Fetched:
    """Return a source whose files are in memory; its folder is readable by nobody else and goes when closed.

    Raises:
        Unsupported: a file's name leads out of the folder.
    """
    for name in files:
        _check_name(name)

    @asynccontextmanager
    async def opened() -> AsyncIterator[Path]:
        path = await asyncio.to_thread(_write, files, cache)
        try:
            yield path
        finally:
            await asyncio.to_thread(shutil.rmtree, path)

    return Fetched(revision, f"{kind}:{digest_of(files)}", opened, files)


def digest_of(files: Mapping[str, bytes]) -> str:
    """Return the SHA-256 of names and contents."""
    digest = hashlib.sha256()
    for name in sorted(files):
        for part in (name.encode(), files[name]):
            digest.update(len(part).to_bytes(8, "big"))
            digest.update(part)
    return digest.hexdigest()


def _check_name(name: str) -> None:
    path = PurePosixPath(name)
    if not name or path.is_absolute() or ".." in path.parts or "\0" in name or "\\" in name:
        raise Unsupported(f"file {name!r}: a file of a source has a relative path with no .. in it")


def _write(files: Mapping[str, bytes], cache: Path) -> Path:
    opened = cache / "open"
    opened.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=opened))
    for name, data in files.items():
        path = folder / name
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(data)
        except OSError as error:
            shutil.rmtree(folder)
            raise Unsupported(f"file {name!r} cannot be written: {error.strerror}") from None
    return folder
