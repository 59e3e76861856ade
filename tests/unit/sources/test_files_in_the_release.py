"""Inline sources: a revision by content, and names that stay in the folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from convoy.api.errors import Unsupported
from convoy.sources.inline import fetch_inline

KEY = b"0123456789abcdef0123456789abcdef"


async def test_the_files_are_there_while_the_folder_is_open(tmp_path: Path) -> None:
    fetched = fetch_inline({"a.yaml": "one", "sub/b.yaml": "é"}, cache=tmp_path, key=KEY)

    async with fetched.folder() as folder:
        assert (folder / "a.yaml").read_text() == "one"
        assert (folder / "sub" / "b.yaml").read_bytes() == "é".encode()
        assert (folder / "a.yaml").stat().st_mode & 0o077 == 0
    assert not folder.exists()


def test_the_revision_tells_the_content_apart(tmp_path: Path) -> None:
    texts = [{"a": "bc"}, {"ab": "c"}, {"a": "b", "c": ""}, {}]
    revisions = {fetch_inline(files, cache=tmp_path, key=KEY).revision for files in texts}

    assert len(revisions) == len(texts)
    assert (
        fetch_inline({"a": "1", "b": "2"}, cache=tmp_path, key=KEY).revision
        == fetch_inline({"b": "2", "a": "1"}, cache=tmp_path, key=KEY).revision
    )


def test_the_revision_is_no_oracle_for_a_weak_password(tmp_path: Path) -> None:
    """D40: without the installation's key nobody can tell whether a guess is right."""
    files = {"secret.yaml": "password: hunter2"}
    ours, theirs = (fetch_inline(files, cache=tmp_path, key=key).revision for key in (KEY, KEY[::-1]))
    assert ours != theirs


@pytest.mark.parametrize("name", ["../a", "/etc/a", "a/../../b", "", "a\\b", "a\0b"])
def test_a_name_that_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(Unsupported, match="relative path"):
        fetch_inline({name: ""}, cache=tmp_path, key=KEY)


async def test_a_name_that_is_also_a_folder_is_refused(tmp_path: Path) -> None:
    fetched = fetch_inline({"a": "", "a/b": ""}, cache=tmp_path, key=KEY)

    with pytest.raises(Unsupported, match="cannot be written"):
        async with fetched.folder():
            pass
    assert list((tmp_path / "open").iterdir()) == []
