"""Kind by kind beside the published kstatus rules: each verdict of theirs is the one that the table says.

The library itself is asked (`kstatus/main.go`), so the table of differences in the docs cannot rot.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.unit.health.objects import CASES

PROGRAM = Path(__file__).with_name("kstatus")
OURS = {"Current": "Healthy", "InProgress": "Progressing", "Failed": "Degraded", "Terminating": "Progressing"}


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What kstatus says of each object of the table."""
    go = shutil.which("go")
    if go is None:
        pytest.skip("Go is not installed, and kstatus is a Go library")
    binary = tmp_path_factory.mktemp("kstatus") / "kstatus"

    def run_go(*arguments: str) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "GOWORK": "off", "GOFLAGS": ""}
        return subprocess.run(
            [go, *arguments], cwd=PROGRAM, env=env, capture_output=True, text=True, check=False
        )

    fetched = run_go("mod", "download")
    if fetched.returncode != 0:
        pytest.skip(f"kstatus cannot be downloaded: {fetched.stderr[-500:]}")
    built = run_go("build", "-o", str(binary), ".")
    assert built.returncode == 0, built.stderr
    lines = "\n".join(json.dumps(case.tree) for case in CASES)
    return subprocess.run(
        [str(binary)], input=lines, capture_output=True, text=True, check=True
    ).stdout.splitlines()


def test_kstatus_says_what_the_table_says(verdicts: list[str]) -> None:
    said = {case.name: verdict for case, verdict in zip(CASES, verdicts, strict=True)}
    assert said == {case.name: case.kstatus for case in CASES}


def test_where_convoy_differs_the_table_says_why() -> None:
    differing = {case.name for case in CASES if OURS[case.kstatus] != case.phase}
    assert differing == {case.name for case in CASES if case.differs}
