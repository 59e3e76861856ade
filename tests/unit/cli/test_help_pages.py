"""The help pages are frozen: what a page promises does not change unnoticed.

`.venv/bin/python -m tests.unit.cli.test_help_pages` writes them anew.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.unit.cli.running import run

GOLDEN = Path(__file__).parent / "golden"
RELEASE = (
    "approve",
    "check",
    "diff",
    "events",
    "get",
    "history",
    "list",
    "pin",
    "preview",
    "resume",
    "rollback",
    "suspend",
    "sync",
    "tree",
    "unpin",
)
COMMANDS = [
    (),
    ("release",),
    *(("release", name) for name in RELEASE),
    ("cluster",),
    *(("cluster", name) for name in ("check", "get", "list")),
    ("completion",),
    ("render",),
    ("validate",),
    ("version",),
]
HEAVY = {
    "kubernetes",
    "aiohttp",
    "rich",
    "pydantic",
    "msgspec",
    "yaml",
    "asyncio",
    "ssl",
    "http.client",
    "convoy.api.release",
}


def golden_of(command: tuple[str, ...]) -> Path:
    return GOLDEN / f"{'-'.join(['kubectl-convoy', *command])}.txt"


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_page_is_as_it_was(command: tuple[str, ...]) -> None:
    assert run(*command, "--help") == golden_of(command).read_text(encoding="utf-8")


def test_each_command_has_its_page() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == {golden_of(command).name for command in COMMANDS}
    for group in ((), ("release",), ("cluster",)):
        _, _, listed = run(*group, "--help").partition("Commands:\n")
        names = {line.split()[0] for line in listed.splitlines()}
        assert names == {command[-1] for command in COMMANDS if command and command[:-1] == group}


@pytest.mark.parametrize("words", [["--help"], ["release", "sync", "--help"]], ids=" ".join)
def test_help_imports_no_kubernetes_client_and_nothing_else_that_is_heavy(words: list[str]) -> None:
    code = (
        f"import sys; from convoy.cli.main import run; run({words!r}); "
        f"print(sorted(set(sys.modules) & {HEAVY!r}), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_without_words_the_page_is_shown() -> None:
    assert run() == golden_of(()).read_text(encoding="utf-8")


def test_the_version_is_that_of_the_package() -> None:
    assert run("version") == version("convoy-release") + "\n"


def write() -> None:
    """Write every page."""
    for command in COMMANDS:
        golden_of(command).write_text(run(*command, "--help"), encoding="utf-8")


if __name__ == "__main__":
    write()
