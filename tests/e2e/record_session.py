"""Records the session of `docs/command-line.md`: `.venv/bin/python -m tests.e2e.record_session`.

It runs each command of it against a convoy on a local stack, as a person would, and writes what it said into the page.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import yaml

from convoy.api.objects import Manifest
from deploy.stack.local import Stack
from deploy.stack.providers import provider
from tests.e2e.harness.api import running_with_api
from tests.e2e.harness.convoy import Convoy, condition_of
from workflows.contract import ReleaseId

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "command-line.md"
EXAMPLE = ROOT / "examples" / "shop-inline"
SHOP = ReleaseId("shop-team", "shop")
BLOCK = re.compile(r"(?<=## A session\n).*?(?<=```console\n)(?P<said>.*?)(?=\n```)", re.DOTALL)


def is_true(*kinds: str) -> Callable[[Manifest], bool]:
    return lambda tree: all(condition_of(tree, kind).get("status") == "True" for kind in kinds)


COMMANDS: dict[str, Callable[[Manifest], bool] | None] = {
    "kubectl convoy validate -f examples/shop-inline": None,
    "kubectl convoy release list -n shop-team": None,
    "kubectl convoy release preview shop -n shop-team": None,
    "kubectl convoy release sync shop --wait -n shop-team": None,
    "kubectl convoy release tree shop -n shop-team": is_true("Ready", "InSync"),
    """kubectl patch configmap settings -n shop --type merge -p '{"data":{"greeting":"by hand"}}'""": None,
    "kubectl convoy release diff shop -n shop-team": None,
    "kubectl convoy release diff shop -n shop-team -o unified": None,
    "kubectl convoy release sync shop --force --wait -n shop-team": None,
    "kubectl convoy release history shop -n shop-team": is_true("Ready", "InSync"),
    "kubectl convoy release get shop -n shop-team": None,
}
"""Each command with what must be true of the Release before it."""


async def record(stack: Stack, folder: Path) -> str:
    """Return the session."""
    environment = os.environ | {
        "KUBECONFIG": str(stack.kubeconfig),
        "PATH": f"{stack.tool('kubectl').parent}:{Path(sys.executable).parent}:/usr/bin:/bin",
        "COLUMNS": "120",
    }
    async with running_with_api(stack, folder) as convoy:
        await _apply_example(convoy)
        parts = []
        for command, ready in COMMANDS.items():
            if ready is not None:
                await convoy.until(SHOP, ready, what=f"what `{command}` waits for")
            parts.append(f"$ {command}\n{await _output(command, environment)}")
            print(parts[-1])
    return "\n\n".join(part.rstrip() for part in parts)


async def _apply_example(convoy: Convoy) -> None:
    for path in sorted(EXAMPLE.glob("*.yaml")):
        for tree in yaml.safe_load_all(path.read_text(encoding="utf-8")):
            if tree["kind"] == "Release":
                tree["spec"]["syncPolicy"].pop("automatic")
            await convoy.objects.apply(tree, manager="kubectl")
    await convoy.until_seen(SHOP)
    await convoy.check(SHOP)


async def _output(command: str, environment: dict[str, str]) -> str:
    process = await asyncio.create_subprocess_shell(
        command, cwd=ROOT, env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    out, _ = await process.communicate()
    told = out.decode()
    return told if process.returncode == 0 else f"{told.rstrip()}\n[exit code {process.returncode}]"


def main() -> None:
    """Record the session and write it into the page."""
    with provider(os.environ).provide(say=print) as stack, tempfile.TemporaryDirectory() as folder:
        said = asyncio.run(record(stack, Path(folder)))
    page = PAGE.read_text(encoding="utf-8")
    found = BLOCK.search(page)
    assert found is not None, f"{PAGE} has no session"
    PAGE.write_text(page[: found.start("said")] + said + page[found.end("said") :], encoding="utf-8")


if __name__ == "__main__":
    main()
