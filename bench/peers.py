"""What convoy is measured beside: kubectl of the stack's own version, and the bare floor."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from pathlib import Path

from bench.bare import Bare, Call


async def kubectl(tool: Path, kubeconfig: Path, *arguments: str, exit_codes: tuple[int, ...] = (0,)) -> float:
    """Run kubectl and return the seconds it took."""
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        str(tool),
        f"--kubeconfig={kubeconfig}",
        *arguments,
        env=os.environ | {"KUBECTL_APPLYSET": "true"},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    _, errors = await process.communicate()
    if process.returncode not in exit_codes:
        raise RuntimeError(f"kubectl {' '.join(arguments)}: {errors.decode(errors='replace')[-2000:]}")
    return time.perf_counter() - began


async def kubectl_dry_run_and_apply(
    tool: Path, kubeconfig: Path, folder: Path, *, prune: Sequence[str] = ()
) -> float:
    """Do with kubectl what a sync does: a server-side dry run of all files, then the apply of them.

    `prune` are the arguments of the apply that make it delete what is no longer there.
    """
    apply = ("apply", "--server-side", "--force-conflicts", f"--filename={folder}")
    return await kubectl(tool, kubeconfig, *apply, "--dry-run=server") + await kubectl(
        tool, kubeconfig, *apply, *prune
    )


async def floor_sync(api: Bare, calls: Sequence[Call], *, in_flight: int) -> float:
    """Send what a sync sends and nothing else: all dry runs at once, then one apply after the other."""
    began = time.perf_counter()
    await api.dry_run_all(calls, in_flight=in_flight)
    for call in calls:
        await api.apply(call)
    return time.perf_counter() - began


async def floor_drift(api: Bare, calls: Sequence[Call], *, in_flight: int) -> float:
    """Send what a drift pass sends and nothing else: for each object a read, then its apply as a dry run."""
    began = time.perf_counter()
    await api.compare_all(calls, in_flight=in_flight)
    return time.perf_counter() - began
