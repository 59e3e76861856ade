"""Making files where nobody reads them yet, and putting them into their place when they are complete."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path


@asynccontextmanager
async def work_folder(folder: Path) -> AsyncIterator[Path]:
    """Open an empty private folder below `folder`, on the file system that the files stay on."""
    work = await asyncio.to_thread(_make, folder)
    try:
        yield work
    finally:
        await asyncio.to_thread(shutil.rmtree, work, ignore_errors=True)


async def put_into_place(files: Path, target: Path) -> None:
    """Move a complete folder. Raises OSError where that is not possible."""
    await asyncio.to_thread(_move, files, target)


def _make(folder: Path) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix=".work-", dir=folder))


def _move(files: Path, target: Path) -> None:
    try:
        files.rename(target)
    except OSError:
        # Another process was faster, with the same files.
        if not target.is_dir():
            raise
