"""`diff` and `check` tell a difference by 1: nothing that goes wrong may end with it, or with 0."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.unit.cli.running import BINARY, run

COMPARING = pytest.mark.parametrize("command", ["diff", "check"])


def kubeconfig(path: Path, user: object) -> Path:
    tree = {
        "current-context": "one",
        "contexts": [{"name": "one", "context": {"cluster": "one", "user": "one"}}],
        "clusters": [{"name": "one", "cluster": {"server": "https://127.0.0.1:9"}}],
        "users": [{"name": "one", "user": user}],
    }
    path.write_text(yaml.safe_dump(tree))
    return path


@COMPARING
def test_a_kubeconfig_that_leads_nowhere_is_no_difference(command: str, tmp_path: Path) -> None:
    words = ["release", command, "shop", "--kubeconfig"]
    assert "does not exist" in run(*words, tmp_path / "none", code=2)
    path = kubeconfig(tmp_path / "config", {})
    assert "no context 'nope'" in run(*words, path, "--context", "nope", code=2)
    assert "cannot be reached" in run(*words, path, code=2)


@COMPARING
def test_a_login_that_has_expired_is_no_difference(command: str, tmp_path: Path) -> None:
    plugin = {"command": "false", "apiVersion": "client.authentication.k8s.io/v1"}
    path = kubeconfig(tmp_path / "config", {"exec": plugin})
    told = run("release", command, "shop", "--kubeconfig", path, code=2)
    assert "the credential plugin false ended with code 1" in told


def test_a_bug_is_no_difference() -> None:
    code = (
        "import sys; from convoy.cli import main; main.app = None; "
        "sys.exit(main.run(['release', 'diff', 'shop']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "Traceback" in done.stderr
    assert done.returncode == 2


def test_a_reader_that_is_gone_has_not_heard_that_all_is_well(tmp_path: Path) -> None:
    (tmp_path / "none.yaml").write_text("a: 1\n")
    reader, writer = os.pipe()
    os.close(reader)
    words = ["validate", "-f", str(tmp_path / "none.yaml")]
    done = subprocess.run([BINARY, *words], stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")
