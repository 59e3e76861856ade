"""The real binary, for what needs no cluster."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

BINARY = Path(sys.executable).parent / "kubectl-convoy"


def run(*words: str | Path, code: int = 0, text: str = "", **environment: str) -> str:
    """Run a command that ends with this code; return what it said, stdout before stderr."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "CONVOY_TOOLS")}
    done = subprocess.run(
        [BINARY, *words],
        input=text,
        env=kept | {"COLUMNS": "80", "LANG": "C.UTF-8"} | environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == code, f"ended with {done.returncode}: {done.stdout}{done.stderr}"
    assert "Traceback" not in done.stderr
    if code > 1:
        assert done.stderr.count("\n") == 1, "an error is one line"
    return done.stdout + done.stderr
