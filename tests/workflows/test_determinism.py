"""Workflow code decides and waits: it does no I/O, and it asks nobody but Temporal for time and chance."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import workflows
from tests.workflows.doubles import REAL
from workflows.contract import Activity

MODULES = sorted(Path(workflows.__file__).parent.glob("*.py"))
ALLOWED = {
    "__future__", "asyncio", "collections", "contextlib", "dataclasses", "datetime", "enum", "typing",
    "pydantic", "temporalio", "convoy.api", "convoy.policy", "workflows",
}  # fmt: skip
"""Where workflow modules may import from: this list grows only by what is pure."""

CLOCKS_AND_CHANCE = {
    "asyncio.sleep", "asyncio.wait", "asyncio.as_completed", "asyncio.gather",
    "datetime.now", "datetime.utcnow", "date.today",
}  # fmt: skip
LOADED_BY_NONE = [
    "aiohttp",
    "kubernetes",
    "obstore",
    "convoy.kube",
    "convoy.store",
    "convoy.settings",
    "activities",
]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_workflow_module_imports_only_what_is_pure(path: Path) -> None:
    foreign = [
        name
        for name in imports(ast.parse(path.read_text()))
        if not any(name == allowed or name.startswith(f"{allowed}.") for allowed in ALLOWED)
    ]
    assert foreign == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_workflow_module_asks_no_clock_and_no_scheduler_but_temporals(path: Path) -> None:
    tree = ast.parse(path.read_text())
    called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    assert called & CLOCKS_AND_CHANCE == set()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_workflow_module_has_no_finally_since_it_would_run_on_eviction(path: Path) -> None:
    tree = ast.parse(path.read_text())
    assert not any(isinstance(node, ast.Try) and node.finalbody for node in ast.walk(tree))


def test_loading_the_workflows_loads_nothing_that_does_io() -> None:
    code = (
        "import sys, workflows.sync, workflows.drift;"
        f"print([name for name in {LOADED_BY_NONE!r} if name in sys.modules])"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"


def test_the_doubles_stand_for_every_activity_of_the_contract() -> None:
    assert set(REAL) == set(Activity)
    names = {name: real.__temporal_activity_definition.name for name, real in REAL.items()}  # type: ignore[attr-defined]
    assert names == {name: name.value for name in Activity}


def imports(tree: ast.AST) -> Iterator[str]:
    """Yield the modules that a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
