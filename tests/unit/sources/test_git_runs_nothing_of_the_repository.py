"""Hooks, filters, submodules, the user's own configuration: none of it runs or is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.sources.conftest import Fetch
from tests.unit.sources.repository import Repository


async def test_the_users_configuration_and_hooks_are_not_read(
    repository: Repository, fetch: Fetch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit(".gitattributes", "a.yaml filter=x\n")
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "post-checkout").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    (hooks / "post-checkout").chmod(0o755)
    config = tmp_path / "gitconfig"
    config.write_text(f'[core]\n\thooksPath = {hooks}\n[filter "x"]\n\tsmudge = touch {tmp_path}/ran; cat\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", f"'core.hooksPath={hooks}'")
    async with (await fetch(repository.url)).folder() as folder:
        assert (folder / "a.yaml").read_text() == "two"

    assert not (tmp_path / "ran").exists()


async def test_a_submodule_stays_an_empty_folder(
    repository: Repository, fetch: Fetch, tmp_path: Path
) -> None:
    Repository(tmp_path / "other")
    repository.git(
        "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", f"file://{tmp_path}/other", "sub"
    )
    repository.commit("b.yaml", "three")

    async with (await fetch(repository.url)).folder() as folder:
        assert list((folder / "sub").iterdir()) == []


async def test_a_symlink_is_a_symlink(repository: Repository, fetch: Fetch) -> None:
    (repository.folder / "link").symlink_to("/etc/hostname")
    repository.commit("b.yaml", "three")

    async with (await fetch(repository.url)).folder() as folder:
        assert (folder / "link").is_symlink()
