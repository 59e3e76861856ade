"""`kubectl convoy`: kubectl finds the plugin, runs it, and completes its words."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.cli.conftest import BINARY, Cli, run
from tests.e2e.tenant import Tenant, config_map


@pytest.fixture
def on_path(cli: Cli, tmp_path: Path) -> dict[str, str]:
    """A PATH with the plugin, and with the file that kubectl asks for completions."""
    (tmp_path / "kubectl-convoy").symlink_to(BINARY)
    complete = tmp_path / "kubectl_complete-convoy"
    complete.write_text('#!/bin/sh\nexec kubectl-convoy __complete "$@"\n')
    complete.chmod(0o755)
    return {**cli.environment, "PATH": f"{tmp_path}:/usr/bin:/bin"}


async def test_kubectl_lists_and_runs_it(cli: Cli, tenant: Tenant, on_path: dict[str, str]) -> None:
    await tenant.release("shop", {"a.yaml": config_map("a", tenant.namespace)})
    listed = await run(cli.kubectl, "plugin", "list", environment=on_path)
    assert any(line.endswith("/kubectl-convoy") for line in listed.lines)
    done = await run(
        cli.kubectl, "convoy", "release", "list", "-n", cli.namespace, "-o", "name", environment=on_path
    )
    assert done.succeeded().lines == ["release.convoy.kumodo.io/shop"]
    done = await run(cli.kubectl, "convoy", "release", "get", environment=on_path)
    assert done.failed(2) == "Missing argument 'NAME'. See `kubectl convoy release get --help`."


async def test_kubectl_completes_commands_and_names(
    cli: Cli, tenant: Tenant, on_path: dict[str, str]
) -> None:
    await tenant.release("shop", {"a.yaml": config_map("a", tenant.namespace)})
    done = await run(cli.kubectl, "__complete", "convoy", "release", "his", environment=on_path)
    assert done.lines[0].split("\t")[0] == "history"
    words = ["convoy", "release", "get", "-n", cli.namespace, "s"]
    done = await run(cli.kubectl, "__complete", *words, environment=on_path)
    assert done.lines[0].split("\t")[0] == "shop"


async def test_a_shell_completes_commands_and_names(cli: Cli, tenant: Tenant) -> None:
    await tenant.release("shop", {"a.yaml": config_map("a", tenant.namespace)})
    for line, expected in (
        ("kubectl-convoy release his", "plain,history"),
        (f"kubectl-convoy release get -n {cli.namespace} s", "plain,shop"),
    ):
        asked = {
            "_KUBECTL_CONVOY_COMPLETE": "bash_complete",
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(line.split()) - 1),
        }
        done = await run(BINARY, environment={**cli.environment, **asked})
        assert done.succeeded().lines == [expected]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
async def test_there_is_a_script_for_each_shell(cli: Cli, shell: str) -> None:
    assert "kubectl-convoy" in (await cli.anywhere("completion", shell)).succeeded().out
