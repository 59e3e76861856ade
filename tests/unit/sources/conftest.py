"""A repository and a fetcher a test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from convoy.api.source import GitSource
from convoy.kube.client import Endpoint, KubeClient
from convoy.sources.fetched import Fetched, SourceOptions
from convoy.sources.git import fetch_git
from tests.unit.sources.repository import Repository

Fetch = Callable[..., Awaitable[Fetched]]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository")


@pytest.fixture
async def fetch(tmp_path: Path) -> AsyncIterator[Fetch]:
    """Fetch from a URL; no cluster is behind it, since nothing names a Secret."""
    async with KubeClient(Endpoint(server="http://127.0.0.1:9")) as home:

        async def run(
            url: str, *, namespace: str = "team", allow: bool = True, timeout: float = 30, **ref: Any
        ) -> Fetched:
            source = GitSource.model_validate({"url": url, "ref": ref})
            options = SourceOptions(allow_private_addresses=allow, timeout=timeout)
            return await fetch_git(source, namespace, home=home, cache=tmp_path / "cache", options=options)

        yield run
