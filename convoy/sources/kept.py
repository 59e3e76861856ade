"""Folders of files that stay for the next pass, each named by the digest of what it was made of.

One namespace never sees what another one fetched: it has to show its own credentials first, so the folder's path
has the namespace, the URL and the Secret in it.
"""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from weakref import WeakValueDictionary

import msgspec

from convoy.sources.sweep import sweep, touch
from convoy.sources.work import put_into_place, work_folder

_KEEP_SECONDS: Final = 3600.0
_locks: WeakValueDictionary[Path, asyncio.Lock] = WeakValueDictionary()


class Seen(msgspec.Struct):
    """What a server said last, so that the next request can ask whether it still holds."""

    etag: str = ""
    last_modified: str = ""
    value: str = ""
    """What the source makes of it."""

    def conditions(self) -> dict[str, str]:
        """Return the headers of a conditional request."""
        headers = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in headers.items() if value}


@dataclass(frozen=True, slots=True)
class Kept:
    """What one namespace fetched from one place."""

    folder: Path

    @staticmethod
    def of(cache: Path, kind: str, *owner: str) -> Kept:
        """Return the place of a source; `owner` is namespace, URL, Secret and whatever else tells sources apart."""
        return Kept(cache / kind / hashlib.sha256("\0".join(owner).encode()).hexdigest()[:32])

    @asynccontextmanager
    async def open(self, name: str, fill: Callable[[Path, Path], Awaitable[None]]) -> AsyncIterator[Path]:
        """Open the folder of this name; where there is none, `fill` makes it.

        `fill` gets an empty folder for the files, and one for what it needs on the way.
        """
        target = self.folder / name
        async with _locks.setdefault(target, asyncio.Lock()):
            if not await asyncio.to_thread(touch, target):
                async with self.work() as work:
                    files, scratch = work / "files", work / "scratch"
                    for folder in (files, scratch):
                        await asyncio.to_thread(folder.mkdir, 0o700)
                    await fill(files, scratch)
                    await put_into_place(files, target)
                await asyncio.to_thread(sweep, self.folder, older_than=_KEEP_SECONDS)
        yield target

    async def has(self, name: str) -> bool:
        """Whether the folder of this name is here; if so it stays a while longer."""
        return await asyncio.to_thread(touch, self.folder / name)

    def work(self) -> AbstractAsyncContextManager[Path]:
        """Open an empty private folder."""
        return work_folder(self.folder)

    async def seen(self) -> Seen:
        """Return what `see` noted last."""
        return await asyncio.to_thread(_read, self._note)

    async def see(self, seen: Seen) -> None:
        """Note what the server said."""
        await asyncio.to_thread(_write, self._note, msgspec.json.encode(seen))

    @property
    def _note(self) -> Path:
        return self.folder.with_suffix(".json")


def _read(path: Path) -> Seen:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Seen)
    except (FileNotFoundError, msgspec.DecodeError):
        return Seen()


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".note-", delete=False) as file:
        file.write(data)
    Path(file.name).replace(path)
