"""Real, big inputs: files of Go modules, from the user's module cache or the module proxy."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest


@cache
def go_module(module: str) -> Path:
    """Return the folder of a module such as `example.org/tool@v1.2.3`; skips the test where it cannot be had."""
    go = shutil.which("go")
    if go is None:
        pytest.skip(f"Go is not installed, and {module} comes as a Go module")
    done = subprocess.run(
        [go, "mod", "download", "-json", module],
        env={**os.environ, "GOWORK": "off", "GOFLAGS": "-mod=mod"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        pytest.skip(f"the Go module {module} cannot be had: {done.stdout or done.stderr}")
    return Path(json.loads(done.stdout)["Dir"])
