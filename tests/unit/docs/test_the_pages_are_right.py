"""Every page of the repository passes the checks, and the checks find what they are for."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs import check, generate

HERE = check.ROOT / "README.md"


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


@pytest.mark.parametrize("text", ["    make nothing\n", "Run `make nothing`."])
def test_a_make_target_that_is_not_there_is_found(text: str) -> None:
    assert list(check.unknown_targets(HERE, text)) == ["make nothing: the Makefile has no such target"]


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("`kubectl convoy release sync NAME` and kubectl convoy in prose", []),
        ("$ kubectl convoy release synch shop", ["there is no command 'synch'"]),
        ("    kubectl-convoy releases list", ["there is no command 'releases'"]),
    ],
)
def test_a_command_that_is_not_there_is_found(text: str, faults: list[str]) -> None:
    assert [found.partition(": ")[2] for found in check.unknown_commands(HERE, text)] == faults


def test_a_place_of_one_machine_is_found() -> None:
    (fault,) = check.machine_paths(HERE, "see " + "/tm" + "p/x")
    assert "one machine" in fault
