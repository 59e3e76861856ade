"""The local working folder: files by name, bounded in size, least recently used ones go first.

It carries renders between the activities of one machine. Whatever is missing here is made again, so a lost
file costs time and nothing else. Callers hand over encrypted bytes; file names are digests, so no name can
leave the folder.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import secrets
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

MAX_BYTES: Final = 1024**3
_KEEP: Final = 0.8


class Cache:
    """A folder of files, shared by the processes of one machine."""

    def __init__(self, folder: Path, *, max_bytes: int = MAX_BYTES) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder = folder
        self._max_bytes = max_bytes
        self._bytes: int | None = None
        self._lock = threading.Lock()

    async def read(self, name: str) -> bytes | None:
        """Return the bytes under this name, or None where there are none that can be read."""
        return await asyncio.to_thread(self._read, self._path(name))

    async def has(self, name: str) -> bool:
        """Tell whether there are bytes under this name."""
        return await asyncio.to_thread(self._path(name).exists)

    async def write(self, name: str, data: bytes) -> None:
        """Keep bytes under this name, in place of what was there.

        Raises:
            OSError: the disk is full or the folder is not writable.
        """
        await asyncio.to_thread(self._write, self._path(name), data)

    async def remove(self, name: str) -> None:
        """Forget this name; nothing happens if it is unknown."""
        await asyncio.to_thread(self._path(name).unlink, missing_ok=True)

    def _path(self, name: str) -> Path:
        digest = hashlib.sha256(name.encode()).hexdigest()
        return self._folder / digest[:2] / digest[2:]

    def _read(self, path: Path) -> bytes | None:
        try:
            data = path.read_bytes()
        except OSError:
            return None  # whatever the reason: it is made again
        # Two readers of one name: the file may be gone by now.
        with suppress(OSError):
            os.utime(path)
        return data

    def _write(self, path: Path, data: bytes) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Renamed into place: a reader sees all of it or nothing, also after a crash.
        part = path.with_name(f"{path.name}.{secrets.token_hex(8)}.part")
        try:
            with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(data)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
        self._make_room(len(data))

    def _make_room(self, added: int) -> None:
        with self._lock:
            self._bytes = self._bytes + added if self._bytes is not None else self._measure()
            if self._bytes <= self._max_bytes:
                return
            files = sorted(self._files())
            total = sum(size for _, size, _ in files)
            for _, size, path in files[:-1]:
                if total <= self._max_bytes * _KEEP:
                    break
                path.unlink(missing_ok=True)
                total -= size
            self._bytes = total

    def _measure(self) -> int:
        return sum(size for _, size, _ in self._files())

    def _files(self) -> list[tuple[int, int, Path]]:
        found = []
        for path in self._folder.glob("*/*"):
            with suppress(FileNotFoundError):
                stat = path.stat()
                found.append((stat.st_mtime_ns, stat.st_size, path))
        return found
