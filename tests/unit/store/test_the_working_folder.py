"""The local cache: bounded, least recently used first out, readable by nobody else."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

from convoy.store.cache import Cache


def files_in(folder: Path) -> list[Path]:
    return list(folder.glob("*/*"))


def grow_old(folder: Path) -> None:
    """Let every file look a minute older, so that the order of use shows on any file system."""
    for path in folder.glob("*/*"):
        stat = path.stat()
        os.utime(path, ns=(stat.st_atime_ns - 60 * 10**9, stat.st_mtime_ns - 60 * 10**9))


async def test_what_was_written_is_read(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    await cache.write("a/../../b", b"one")
    await cache.write("a/../../b", b"two")

    assert await cache.read("a/../../b") == b"two"
    assert await cache.has("a/../../b")
    assert await Cache(tmp_path).read("a/../../b") == b"two"
    assert await cache.read("c") is None
    assert len(files_in(tmp_path)) == 1


async def test_what_was_removed_is_gone(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    await cache.write("a", b"one")
    await cache.remove("a")
    await cache.remove("a")

    assert await cache.read("a") is None


async def test_nobody_else_can_read_it(tmp_path: Path) -> None:
    await Cache(tmp_path / "folder").write("a", b"one")

    for path in tmp_path.joinpath("folder").rglob("*"):
        assert path.stat().st_mode & 0o077 == 0


async def test_the_least_recently_used_goes_when_it_is_full(tmp_path: Path) -> None:
    cache = Cache(tmp_path, max_bytes=1000)
    for name in ("a", "b", "c"):
        await cache.write(name, b"x" * 300)
        grow_old(tmp_path)
    await cache.read("a")
    grow_old(tmp_path)

    await cache.write("d", b"x" * 300)

    assert [await cache.has(name) for name in ("a", "b", "c", "d")] == [True, False, False, True]
    assert sum(path.stat().st_size for path in files_in(tmp_path)) <= 1000


async def test_one_file_above_the_bound_is_kept(tmp_path: Path) -> None:
    cache = Cache(tmp_path, max_bytes=10)
    await cache.write("a", b"x" * 300)

    assert await cache.has("a")


async def test_many_writers_of_one_name_leave_one_whole_file(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    await asyncio.gather(*(cache.write("a", bytes([number]) * 10_000) for number in range(20)))

    data = await cache.read("a")
    assert data is not None
    assert len(data) == 10_000
    assert len(set(data)) == 1
    assert len(files_in(tmp_path)) == 1


async def test_a_folder_that_somebody_deleted_is_made_again(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "folder")
    shutil.rmtree(tmp_path / "folder")

    assert await cache.read("a") is None
    await cache.write("a", b"one")

    assert await cache.read("a") == b"one"


async def test_what_cannot_be_read_counts_as_missing(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    await cache.write("a", b"one")
    (path,) = files_in(tmp_path)
    path.unlink()
    path.mkdir()

    assert await cache.read("a") is None
