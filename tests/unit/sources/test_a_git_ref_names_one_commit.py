"""Branch, tag, semver range, commit, or the repository's default branch."""

from __future__ import annotations

from typing import Any

import pytest

from convoy.api.errors import SourceNotReady, Unsupported
from tests.unit.sources.conftest import Fetch
from tests.unit.sources.repository import Repository

REFS: list[tuple[dict[str, Any], str, str]] = [
    ({}, "main@sha1:{second}", "two"),
    ({"branch": "main"}, "main@sha1:{second}", "two"),
    ({"branch": "release/1"}, "release/1@sha1:{first}", "one"),
    ({"tag": "v1.2.0"}, "v1.2.0@sha1:{first}", "one"),
    ({"tag": "nightly"}, "nightly@sha1:{second}", "two"),
    ({"semver": ">=1.0"}, "v1.2.0@sha1:{first}", "one"),
    ({"semver": ">=1.3.0-0"}, "v1.3.0-rc.1@sha1:{second}", "two"),
]


@pytest.mark.parametrize(("ref", "revision", "text"), REFS)
async def test_it_is_fetched(
    repository: Repository, fetch: Fetch, ref: dict[str, Any], revision: str, text: str
) -> None:
    fetched = await fetch(repository.url, **ref)

    assert fetched.revision == revision.format(first=repository.first, second=repository.second)
    async with fetched.folder() as folder:
        assert (folder / "a.yaml").read_text() == text
        assert [path.name for path in folder.iterdir()] == ["a.yaml"]


@pytest.mark.parametrize("length", [40, 12, 7])
async def test_a_commit_may_be_shortened(repository: Repository, fetch: Fetch, length: int) -> None:
    fetched = await fetch(repository.url, commit=repository.first[:length])

    assert fetched.revision == f"sha1:{repository.first}"
    async with fetched.folder() as folder:
        assert (folder / "a.yaml").read_text() == "one"


MISSING: list[tuple[dict[str, Any], str]] = [
    ({"branch": "nope"}, "has no branch nope"),
    ({"tag": "nope"}, "has no tag nope"),
    ({"semver": "^2"}, "has no tag in the range '^2'"),
    ({"commit": "abababa"}, "has no commit abababa"),
]


@pytest.mark.parametrize(("ref", "message"), MISSING)
async def test_what_is_missing_is_named_with_the_url(
    repository: Repository, fetch: Fetch, ref: dict[str, Any], message: str
) -> None:
    with pytest.raises(SourceNotReady) as caught:
        await fetch(repository.url, **ref)

    assert caught.value.message == f"{repository.url} {message}"


async def test_a_commit_that_is_not_there_is_named(repository: Repository, fetch: Fetch) -> None:
    fetched = await fetch(repository.url, commit="ab" * 20)

    with pytest.raises(SourceNotReady, match="has no commit abab"):
        async with fetched.folder():
            pass


@pytest.mark.parametrize(
    "ref", [{"branch": "--upload-pack=x"}, {"branch": "a*"}, {"tag": "a..b"}, {"tag": "a b"}]
)
async def test_a_name_that_no_ref_can_have_is_refused(
    repository: Repository, fetch: Fetch, ref: dict[str, Any]
) -> None:
    with pytest.raises(Unsupported, match="can be no name of a branch or tag"):
        await fetch(repository.url, **ref)


async def test_a_text_that_is_no_range_is_refused(repository: Repository, fetch: Fetch) -> None:
    with pytest.raises(Unsupported, match=r"spec\.source\.git\.ref\.semver: 'latest' is no range"):
        await fetch(repository.url, semver="latest")


async def test_an_empty_repository_has_no_commit_yet(repository: Repository, fetch: Fetch) -> None:
    repository.git("init", "--quiet", "--bare", str(repository.folder.parent / "empty"))

    with pytest.raises(SourceNotReady, match="has no commit yet"):
        await fetch(f"file://{repository.folder.parent}/empty")
