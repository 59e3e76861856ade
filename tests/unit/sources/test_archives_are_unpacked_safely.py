"""D5: an archive writes nothing outside its folder, and cannot fill the disk or the memory; the entry is named."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from convoy.sources.archive import ArchiveLimits, BadArchive, unpack
from tests.unit.sources.archives import entry, link, packed, packed_files


@pytest.fixture
def target(tmp_path: Path) -> Path:
    folder = tmp_path / "target"
    folder.mkdir()
    return folder


def refused(data: bytes, target: Path, limits: ArchiveLimits | None = None) -> str:
    with pytest.raises(BadArchive) as caught:
        unpack(io.BytesIO(data), target, limits=limits)
    outside = [path for path in target.parent.iterdir() if path != target]
    assert outside == []
    return str(caught.value)


@pytest.mark.parametrize("mode", ["w:gz", "w"])
def test_files_folders_and_links_inside_are_written(target: Path, mode: str) -> None:
    data = packed(
        entry("./app", type=tarfile.DIRTYPE),
        entry("./app/a.yaml", b"a: 1\n", mode=0o777),
        link("./app/link.yaml", "../other/b.yaml"),
        entry("other/b.yaml", b"b: 1\n"),
        mode=mode,
    )
    unpack(io.BytesIO(data), target)

    assert (target / "app/a.yaml").read_text() == "a: 1\n"
    assert (target / "app/link.yaml").read_text() == "b: 1\n"
    assert (target / "app/a.yaml").stat().st_mode & 0o777 == 0o600
    assert (target / "app").stat().st_mode & 0o777 == 0o700


def test_leading_folders_can_be_taken_off(target: Path) -> None:
    unpack(
        io.BytesIO(packed_files({"shop/Chart.yaml": "x", "shop/templates/a.yaml": "y", "README": "z"})),
        target,
        strip=1,
    )

    assert sorted(path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()) == [
        "Chart.yaml",
        "templates/a.yaml",
    ]


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([entry("../x", b"x")], "'../x' leads out of the archive"),
        ([entry("a/../../x", b"x")], "'a/../../x' leads out of the archive"),
        ([entry("/x", b"x")], "'/x' leads out of the archive"),
        ([entry("a\\..\\x", b"x")], "is no name for a file"),
        ([link("a", "/etc/passwd")], "a: the symlink leads out of the archive"),
        ([link("a", "../x")], "a: the symlink leads out of the archive"),
        ([link("a/b", "../../x")], "a/b: the symlink leads out of the archive"),
        ([link("a", "b"), link("b", "a")], "the symlink leads out of the archive"),
        ([link("a", ".."), entry("a/x", b"x")], "a: File exists"),
        ([entry("d/e/f", b"x"), link("a/b/d", "../.."), link("e", "a/b/d/../x")], "e: the symlink leads out"),
        ([link("a", "."), link("a/b", "../x")], "the symlink leads out of the archive"),
        ([entry("a", b"1"), entry("a", b"2")], "a is in it twice"),
        ([entry("a", b"1"), entry("a/b", b"2")], "a/b"),
        ([entry("a", type=tarfile.LNKTYPE, linkname="/etc/passwd")], "a is neither a file nor a folder"),
        ([entry("a", type=tarfile.FIFOTYPE)], "a is neither a file nor a folder"),
        ([entry("a", type=tarfile.CHRTYPE)], "a is neither a file nor a folder"),
    ],
)
def test_what_leads_out_is_refused_by_name(
    target: Path, entries: list[tuple[tarfile.TarInfo, bytes]], message: str
) -> None:
    assert message in refused(packed(*entries), target)


def test_a_link_of_an_earlier_archive_is_not_written_through(target: Path) -> None:
    (target / "out").symlink_to("..")

    assert "leads out" in refused(packed_files({"out/x": "x"}), target)


def test_a_bomb_is_refused(target: Path) -> None:
    bomb = packed(entry("big", bytes(8 * 1024 * 1024)))
    assert len(bomb) < 20_000

    limits = ArchiveLimits(bytes=1024 * 1024)
    assert refused(bomb, target, limits) == "it writes out to more than 1048576 bytes"


def test_a_bomb_behind_the_last_entry_is_refused(target: Path) -> None:
    data = gzip.compress(packed_files({"a": "x"}, mode="w") + bytes(8 * 1024 * 1024), compresslevel=1)

    unpack(io.BytesIO(data), target, limits=ArchiveLimits(bytes=1024, files=10))
    assert (target / "a").exists(), "what is behind the end is not read"


def test_too_many_files_are_refused(target: Path) -> None:
    many = packed_files({str(number): "" for number in range(20)})

    assert refused(many, target, ArchiveLimits(files=10)) == "it has more than 10 entries"


def test_a_header_that_fills_the_memory_is_refused(target: Path) -> None:
    data = packed(entry("a", bytes(2 * 1024 * 1024), type=tarfile.XHDTYPE))

    assert refused(data, target) == "it has a header of 2097152 bytes"


def test_a_sparse_file_is_refused(target: Path) -> None:
    info, _ = entry("a", type=tarfile.GNUTYPE_SPARSE)

    assert refused(packed((info, b"")), target)


def test_a_zip_and_noise_are_no_archive(target: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("a", "b")

    assert refused(buffer.getvalue(), target).startswith("it is no .tar.gz")
    assert refused(b"", target).startswith("it is no .tar.gz")
    assert refused(b"\x1f\x8bnoise", target).startswith("it is no .tar.gz")
    assert refused(packed_files({"a": "x" * 10_000})[:-100], target).startswith("it is no .tar.gz")
