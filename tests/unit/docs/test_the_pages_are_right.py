"""Every page of the repository passes the checks, and the checks find what they are for."""

from __future__ import annotations

from pathlib import Path

import pytest

from convoy.api.unsupported import field_paths
from docs import check, generate

HERE = check.ROOT / "README.md"
AFTER_HEALTHY = "spec.syncPolicy.prune.afterHealthy"


def test_nothing_is_wrong_with_the_pages() -> None:
    assert check.faults() == []


def test_a_reference_page_has_every_field_of_the_schema() -> None:
    page = generate.pages()["reference/release.md"]
    for field in (
        "spec.clusterRef.name",
        "spec.syncWaves[].wave",
        "spec.source.inline.files",
        "status.retry.at",
    ):
        assert f"| `{field}` |" in page


def test_a_reference_page_marks_what_is_not_built() -> None:
    rows = generate.pages()["reference/release.md"].splitlines()
    marked = {row.split("`")[1] for row in rows if "**not yet**" in row}
    assert all(any(field.startswith(path) for path in field_paths()) for field in marked)
    assert "spec.source.git" not in marked
    assert {path for path in field_paths() if " " not in path} <= marked


def test_the_flags_have_their_variables_and_defaults() -> None:
    page = generate.pages()["reference/flags.md"]
    assert "| `--grace-period` | `CONVOY_GRACE_PERIOD` | `20s` |" in page


def test_a_link_to_nothing_is_found() -> None:
    assert list(check.broken_links(HERE, "[x](docs/nothing.md)")) == ["docs/nothing.md leads nowhere"]


def test_a_link_to_a_missing_heading_is_found(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("# One heading, `code` and all\n", encoding="utf-8")
    page = tmp_path / "other.md"
    assert list(check.broken_links(page, "[x](page.md#one-heading-code-and-all)")) == []
    assert list(check.broken_links(page, "[x](page.md#two)")) == ["page.md#two: there is no such heading"]


def test_links_in_code_are_no_links() -> None:
    assert list(check.broken_links(HERE, "```\n[x](nothing)\n```\n`[y](nothing)`")) == []


def test_a_wrong_release_is_found() -> None:
    block = (
        "```yaml\nkind: Release\nspec: {clusterRef: {name: x}, source: {}, content: {manifests: {}}}\n```\n"
    )
    (fault,) = check.invalid_resources(HERE, block)
    assert "spec.source" in fault


def test_a_release_with_a_field_that_is_not_built_is_found() -> None:
    if AFTER_HEALTHY not in field_paths():
        pytest.skip("it is built")
    block = (
        "```yaml\nkind: Release\nspec:\n  clusterRef: {name: x}\n  source: {inline: {files: {}}}\n"
        "  content: {manifests: {}}\n  syncPolicy: {prune: {afterHealthy: true}}\n```\n"
    )
    (fault,) = check.invalid_resources(HERE, block)
    assert AFTER_HEALTHY in fault


@pytest.mark.parametrize("text", ["    make nothing\n", "Run `make nothing`."])
def test_a_make_target_that_is_not_there_is_found(text: str) -> None:
    assert list(check.unknown_targets(HERE, text)) == ["make nothing: the Makefile has no such target"]


def test_a_place_of_one_machine_is_found() -> None:
    (fault,) = check.machine_paths(HERE, "see " + "/tm" + "p/x")
    assert "one machine" in fault
