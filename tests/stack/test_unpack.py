"""Binaries that were built already are unpacked once, and only when they are what the list says."""

from __future__ import annotations

import hashlib
import lzma
import os
from pathlib import Path

import pytest

from deploy.stack.unpack import unpack


def packed(folder: Path, content: bytes, *, listed: bytes | None = None) -> Path:
    folder.mkdir()
    (folder / "etcd.xz").write_bytes(lzma.compress(content))
    digest = hashlib.sha256(content if listed is None else listed).hexdigest()
    (folder / "SHA256SUMS").write_text(f"{digest}  etcd\n")
    return folder


def test_a_binary_is_unpacked_and_executable(tmp_path: Path) -> None:
    folder = unpack(packed(tmp_path / "from", b"binary"), tmp_path / "into")

    assert (folder / "etcd").read_bytes() == b"binary"
    assert os.access(folder / "etcd", os.X_OK)


def test_what_is_there_already_is_kept(tmp_path: Path) -> None:
    source = packed(tmp_path / "from", b"binary")
    folder = unpack(source, tmp_path / "into")
    (source / "etcd.xz").unlink()

    assert unpack(source, tmp_path / "into") == folder


def test_another_list_gets_another_folder(tmp_path: Path) -> None:
    one = unpack(packed(tmp_path / "one", b"old"), tmp_path / "into")
    two = unpack(packed(tmp_path / "two", b"new"), tmp_path / "into")

    assert one != two
    assert (two / "etcd").read_bytes() == b"new"


def test_a_file_that_differs_from_the_list_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    source = packed(tmp_path / "from", b"binary", listed=b"something else")

    with pytest.raises(ValueError, match=r"etcd\.xz: unpacked SHA-256 is"):
        unpack(source, tmp_path / "into")

    assert [path.name for path in (tmp_path / "into").rglob("*") if path.is_file()] == []
