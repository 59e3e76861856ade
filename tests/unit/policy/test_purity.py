"""Workflows import the policy: it loads nothing that reads a cluster, a file or a socket."""

from __future__ import annotations

import pkgutil
import subprocess
import sys

import convoy.policy

ALLOWED = {
    "convoy",
    "pydantic",
    "pydantic_core",
    "msgspec",
    "annotated_types",
    "typing_extensions",
    "typing_inspection",
}


def test_the_policy_imports_only_the_models_pydantic_and_msgspec() -> None:
    modules = [f"convoy.policy.{module.name}" for module in pkgutil.iter_modules(convoy.policy.__path__)]
    code = (
        "import sys; before = set(sys.modules)\n"
        f"import {', '.join(modules)}\n"
        "loaded = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(*sorted(name for name in loaded - set(sys.stdlib_module_names) if not name.startswith('_')))\n"
    )
    answer = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert set(answer.stdout.split()) <= ALLOWED
