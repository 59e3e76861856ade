"""A case that needs what is not built yet is told by what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.runner.case import Tokens, read_case
from tests.e2e.runner.missing import missing
from tests.unit.cases.writing import write


def waits_for(folder: Path, body: str) -> str | None:
    return missing(read_case(write(folder, body), Tokens()))


def test_a_plain_case_waits_for_nothing(tmp_path: Path) -> None:
    assert waits_for(tmp_path, "steps: [{sync: {}}]\n") is None


@pytest.mark.parametrize(
    ("body", "field", "issue"),
    [
        (
            "steps: [{release: {patch: {spec: {syncPolicy: {prune: {afterHealthy: true}}}}}}]\n",
            "spec.syncPolicy.prune.afterHealthy",
            "issue 9",
        ),
        ("expect: {hooks: [{name: sweep, runs: 1}]}\n", "status.hooks", "issue 9"),
    ],
)
def test_what_is_missing_is_named_with_the_issue(tmp_path: Path, body: str, field: str, issue: str) -> None:
    told = waits_for(tmp_path, body)

    assert told is not None
    assert field in told
    assert issue in told
