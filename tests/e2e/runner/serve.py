"""Handing a render to a Release: inline, or through a git repository where the Release could not hold it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.e2e.runner.files import is_large


async def source_of(files: Mapping[str, str], *, folder: Path) -> dict[str, Any]:
    """Return `spec.source` for these files; repositories are made below `folder`, a new one each time."""
    if not is_large(files):
        return {"inline": {"files": dict(files)}}
    repository = Path(tempfile.mkdtemp(prefix="render-", dir=folder))
    await asyncio.to_thread(_commit, repository, files)
    return {"git": {"url": repository.as_uri()}}


def _commit(repository: Path, files: Mapping[str, str]) -> None:
    for name, content in files.items():
        path = repository / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())
    _git(repository, "init", "--quiet", "--initial-branch=main")
    _git(repository, "add", "--all")
    _git(repository, "commit", "--quiet", "--message=render")


def _git(repository: Path, *arguments: str) -> None:
    who = {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "cases"), ("EMAIL", "cases@example.org"))
    }
    alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    done = subprocess.run(
        ["git", *arguments], cwd=repository, env=os.environ | who | alone, capture_output=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"git {arguments[0]}: {done.stderr.decode(errors='replace')}")
