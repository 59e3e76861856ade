"""A checkout is kept and used again; only where the ref points is asked anew."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from pathlib import Path

import pytest

from convoy.api.errors import SourceNotReady, Unsupported
from convoy.sources import git
from convoy.sources.fetch import tidy
from tests.unit.sources.conftest import Fetch
from tests.unit.sources.repository import Repository


async def test_a_checkout_that_is_here_needs_no_server(repository: Repository, fetch: Fetch) -> None:
    fetched = await fetch(repository.url)
    async with fetched.folder():
        pass
    shutil.rmtree(repository.folder)

    async with fetched.folder() as folder:
        assert (folder / "a.yaml").read_text() == "two"


async def test_a_full_commit_that_is_here_asks_nobody(repository: Repository, fetch: Fetch) -> None:
    async with (await fetch(repository.url)).folder():
        pass
    shutil.rmtree(repository.folder)

    async with (await fetch(repository.url, commit=repository.second)).folder() as folder:
        assert (folder / "a.yaml").read_text() == "two"


async def test_another_namespace_fetches_for_itself(repository: Repository, fetch: Fetch) -> None:
    async with (await fetch(repository.url)).folder():
        pass
    shutil.rmtree(repository.folder)
    other = await fetch(repository.url, namespace="other", commit=repository.second)

    with pytest.raises(SourceNotReady):
        async with other.folder():
            pass


async def test_a_new_commit_is_seen_and_an_equal_one_has_the_same_fingerprint(
    repository: Repository, fetch: Fetch
) -> None:
    before, again = await fetch(repository.url), await fetch(repository.url, branch="main")
    repository.commit("b.yaml", "three")
    after = await fetch(repository.url)

    assert before.fingerprint == again.fingerprint != after.fingerprint
    async with after.folder() as folder:
        assert (folder / "b.yaml").exists()


async def test_many_at_once_share_one_download(repository: Repository, fetch: Fetch) -> None:
    fetched = await asyncio.gather(*(fetch(repository.url) for _ in range(8)))

    async def read(index: int) -> str:
        async with fetched[index].folder() as folder:
            return (folder / "a.yaml").read_text()

    assert set(await asyncio.gather(*(read(index) for index in range(8)))) == {"two"}


async def test_nothing_but_checkouts_stays_on_the_disk(
    repository: Repository, fetch: Fetch, tmp_path: Path
) -> None:
    async with (await fetch(repository.url)).folder():
        pass

    (kept,) = list((tmp_path / "cache" / "git").glob("*/*"))
    assert kept.name == repository.second
    assert kept.parent.stat().st_mode & 0o077 == 0


async def test_what_nobody_opened_for_long_goes(repository: Repository, fetch: Fetch, tmp_path: Path) -> None:
    async with (await fetch(repository.url)).folder() as folder:
        pass
    long_ago = time.time() - 30 * 24 * 3600
    os.utime(folder, (long_ago, long_ago))

    tidy(tmp_path / "cache")

    assert not folder.exists()


@pytest.mark.parametrize("bound", ["MAX_FILES", "MAX_BYTES"])
async def test_too_much_is_refused_before_it_is_written(
    repository: Repository, fetch: Fetch, monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    repository.commit("b.yaml", "three")
    monkeypatch.setattr(git, bound, 1)

    with pytest.raises(Unsupported, match="the commit has 2 files of 8 bytes"):
        async with (await fetch(repository.url)).folder():
            pass
