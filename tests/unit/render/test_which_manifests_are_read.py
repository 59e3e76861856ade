"""Content `manifests`: include and exclude, folders, hidden files, symlinks."""

from __future__ import annotations

from pathlib import Path

import pytest

from convoy.api.content import ManifestsContent
from convoy.api.errors import Unsupported
from convoy.render.manifests import manifest_files, manifest_files_in_memory

FILES = ["a.yaml", "b.yml", "c.json", "d.txt", "sub/e.yaml", "sub/deep/f.yaml", ".g.yaml", ".h/i.yaml"]
SELECTED = [
    ({}, ["a.yaml", "b.yml", "c.json", "sub/deep/f.yaml", "sub/e.yaml"]),
    ({"exclude": ("e.*",)}, ["a.yaml", "b.yml", "c.json", "sub/deep/f.yaml"]),
    ({"include": ("sub/*.yaml",)}, ["sub/e.yaml"]),
    ({"include": ("sub/**/*.yaml",)}, ["sub/deep/f.yaml", "sub/e.yaml"]),
    ({"include": ("**/f.yaml", "?.txt")}, ["d.txt", "sub/deep/f.yaml"]),
    ({"include": ("[ab].y*ml",)}, ["a.yaml", "b.yml"]),
    ({"include": ("[!a].yaml",)}, ["sub/deep/f.yaml", "sub/e.yaml"]),
    ({"exclude": ("sub/**",)}, ["a.yaml", "b.yml", "c.json"]),
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in FILES:
        path = tmp_path / "source" / "deploy" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return tmp_path / "source"


@pytest.mark.parametrize(("patterns", "expected"), SELECTED)
def test_patterns(root: Path, patterns: dict[str, tuple[str, ...]], expected: list[str]) -> None:
    content = ManifestsContent(**patterns)
    in_memory = {f"deploy/{name}": name.encode() for name in FILES}

    assert sorted(file.path for file in manifest_files(root, "./deploy", content)) == expected
    assert sorted(file.path for file in manifest_files_in_memory(in_memory, "./deploy", content)) == expected


@pytest.mark.parametrize("pattern", ["*a" * 30 + "b.yaml", "**/" * 300 + "x", "*?" * 500])
def test_a_pattern_of_many_stars_takes_no_time(pattern: str) -> None:
    files = {f"{'a' * 120}/{'a' * 120}.yaml": b""}

    # A regular expression would take years, so that this would not end.
    assert not manifest_files_in_memory(files, ".", ManifestsContent(include=(pattern,)))


@pytest.mark.parametrize("field", ["include", "exclude"])
def test_a_range_that_is_none_is_refused(root: Path, field: str) -> None:
    with pytest.raises(
        Unsupported, match=rf"spec\.content\.manifests\.{field}: '\[z-a\]' is no range of characters"
    ):
        manifest_files(root, "deploy", ManifestsContent(**{field: ("[z-a].yaml",)}))


@pytest.mark.parametrize("path", ["missing", "deploy/a.yaml"])
def test_a_folder_that_is_not_there_is_named(root: Path, path: str) -> None:
    with pytest.raises(Unsupported, match=rf"spec\.content\.path: the source has no folder '{path}'"):
        manifest_files(root, path, ManifestsContent())


@pytest.mark.parametrize("path", ["..", "deploy/../..", "/etc"])
def test_a_path_that_leads_out_is_refused(root: Path, path: str) -> None:
    with pytest.raises(Unsupported, match=r"must be a folder inside the source"):
        manifest_files(root, path, ManifestsContent())
    with pytest.raises(Unsupported, match=r"must be a folder inside the source"):
        manifest_files_in_memory({}, path, ManifestsContent())


def test_a_symlink_that_leads_out_is_refused(root: Path) -> None:
    (root / "deploy" / "z.yaml").symlink_to("/etc/hostname")

    with pytest.raises(Unsupported, match=r"z\.yaml: the symlink leads out of the source"):
        manifest_files(root, "deploy", ManifestsContent())


def test_a_symlinked_content_folder_that_leads_out_is_refused(root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (root / "link").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(Unsupported, match=r"leads out of the source"):
        manifest_files(root, "link", ManifestsContent())


def test_a_symlink_inside_the_source_is_read(root: Path) -> None:
    (root / "shared.yaml").write_text("shared")
    (root / "deploy" / "z.yaml").symlink_to("../shared.yaml")

    assert b"shared" in [file.data for file in manifest_files(root, "deploy", ManifestsContent())]


def test_a_symlink_to_a_folder_is_not_silently_left_out(root: Path) -> None:
    (root / "deploy" / "again").symlink_to("sub")

    with pytest.raises(Unsupported, match=r"again is a symlink to a folder"):
        manifest_files(root, "deploy", ManifestsContent())
