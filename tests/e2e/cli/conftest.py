"""The real `kubectl-convoy` against the real stack, as a person starts it."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from convoy.api.objects import ObjectKey
from tests.e2e.harness.convoy import Convoy
from tests.e2e.tenant import PATIENCE, Tenant

BINARY = Path(sys.executable).parent / "kubectl-convoy"
API_SERVICE = ObjectKey("apiregistration.k8s.io", "APIService", "", "v1alpha1.subresources.convoy.kumodo.io")


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended."""

    code: int
    out: str
    error: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    def succeeded(self) -> Finished:
        assert self.code == 0, f"ended with {self.code}: {self.error}"
        assert "Traceback" not in self.error
        return self

    def failed(self, code: int = 1) -> str:
        """Return the one line that it said."""
        assert self.code == code, f"ended with {self.code}: {self.error or self.out}"
        assert self.error.count("\n") == 1, self.error
        assert self.error.startswith("error: ")
        return self.error.removeprefix("error: ").strip()


async def run(*words: str | Path, environment: Mapping[str, str]) -> Finished:
    """Run a program without a terminal."""
    process = await asyncio.create_subprocess_exec(
        *map(str, words),
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(PATIENCE):
        out, error = await process.communicate()
    return Finished(process.returncode or 0, out.decode(), error.decode())


@dataclass(frozen=True, slots=True)
class Cli:
    """`kubectl-convoy` of one person: in a namespace, with a kubeconfig."""

    environment: Mapping[str, str]
    namespace: str
    kubectl: Path

    async def __call__(self, *words: str, code: int = 0) -> Finished:
        """Run a command in the namespace; it must end with this code."""
        done = await self.anywhere(*words, "-n", self.namespace)
        assert done.code == code, f"{' '.join(words)} ended with {done.code}: {done.error}{done.out}"
        assert "Traceback" not in done.error
        return done

    async def anywhere(self, *words: str) -> Finished:
        """Run a command as it stands."""
        return await run(BINARY, *words, environment=self.environment)

    async def refused(self, *words: str, code: int = 1) -> str:
        """Run a command that fails, and return its one line."""
        return (await self.anywhere(*words, "-n", self.namespace)).failed(code)


def environment_of(kubeconfig: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG")}
    return kept | {"KUBECONFIG": str(kubeconfig), "COLUMNS": "80"} | more


@pytest.fixture
def cli(convoy: Convoy, tenant: Tenant) -> Cli:
    """The command line in the tenant's namespace."""
    return Cli(environment_of(convoy.stack.kubeconfig), tenant.namespace, convoy.stack.tool("kubectl"))
