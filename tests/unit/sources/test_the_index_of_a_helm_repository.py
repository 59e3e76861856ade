"""Which version of a chart a Release means, and what an index written by a stranger cannot do."""

from __future__ import annotations

import pytest

from convoy.sources.helm_index import BadIndex, chart_versions, choose_version

INDEX = b"""
apiVersion: v1
entries:
  shop:
  - {version: 2.0.0-rc.1, urls: [shop-2.0.0-rc.1.tgz]}
  - {version: 1.10.0, urls: [shop-1.10.0.tgz], digest: AB}
  - {version: 1.9.0, urls: [shop-1.9.0.tgz]}
  - {version: v1.2.0, urls: [https://cdn.example.org/shop-1.2.0.tgz]}
  - {version: 1.2.0+build.1, urls: [b.tgz]}
  - {version: broken}
  - nothing
  number:
  - {version: 1.10, urls: [n.tgz]}
"""


@pytest.mark.parametrize(
    ("wanted", "version"),
    [
        (None, "1.10.0"),
        ("*", "1.10.0"),
        ("1.9.0", "1.9.0"),
        ("2.0.0-rc.1", "2.0.0-rc.1"),
        (">=1.0.0-0", "2.0.0-rc.1"),
        ("^1.0", "1.10.0"),
        ("<1.9", "v1.2.0"),
        ("1.2.0+build.1", "1.2.0+build.1"),
        ("3.x", None),
    ],
)
def test_the_version(wanted: str | None, version: str | None) -> None:
    found = choose_version(chart_versions(INDEX, "shop"), wanted)

    assert (found.version if found else None) == version


def test_a_version_that_looks_like_a_number_stays_as_it_is_written() -> None:
    assert [each.version for each in chart_versions(INDEX, "number")] == ["1.10"]


def test_digests_are_compared_in_lower_case() -> None:
    assert choose_version(chart_versions(INDEX, "shop"), "1.10.0").digest == "ab"  # type: ignore[union-attr]


def test_a_chart_that_is_not_there_has_no_versions() -> None:
    assert chart_versions(INDEX, "none") == []


@pytest.mark.parametrize("text", [b"", b"- a", b"entries: 3", b"a: [", b"\xff\xfe\xfa", b"[" * 100_000])
def test_what_is_no_index(text: bytes) -> None:
    with pytest.raises(BadIndex):
        chart_versions(text, "shop")


def test_aliases_and_merges_write_out_to_nothing() -> None:
    bomb = "m0: &m0 {a: 1, b: 2}\n"
    for level in range(1, 30):
        bomb += f"m{level}: &m{level} {{<<: [*m{level - 1}, *m{level - 1}]}}\n"
        bomb += f"l{level}: &l{level} [{'*l' + str(level - 1) if level > 1 else 'x'}, x]\n"

    assert chart_versions(f"{bomb}entries: {{shop: [{{version: 1.0.0, urls: [u]}}]}}".encode(), "shop")
