"""`tests/coverage_of_*.md` name a test for each sentence of the pages; here is what keeps it true."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
_ID = re.compile(r"`([\w/]+\.py)::(\w+)`")


def rows() -> Iterator[tuple[str, str]]:
    """Return each sentence with what stands beside it."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(TESTS.glob("coverage_of_*.md"))]
    for line in "\n".join(texts).splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 2 and cells[1] not in ("test", "---"):
            yield cells[0], cells[1]


ROWS = list(rows())


@pytest.mark.parametrize("proof", sorted({proof for _, proof in ROWS}))
def test_what_a_sentence_names_is_there(proof: str) -> None:
    found = _ID.fullmatch(proof)
    assert found is not None, f"{proof} names no test"
    path, name = found.groups()
    tree = ast.parse((TESTS / path).read_text(encoding="utf-8"))
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    assert name in defined


def test_no_sentence_stands_twice_in_a_section() -> None:
    pairs = [row for row in ROWS if not row[0].startswith("…")]
    assert len(pairs) == len(set(pairs))
    assert len(ROWS) > 100
