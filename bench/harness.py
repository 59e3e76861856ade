"""What the benchmarks share: a running convoy beside a bare connection, Releases on it, and the line that is printed.

Everything that is compared runs against the same servers in the same run, one contender after the other in turn, and
each ends with what it made being gone.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.bare import Bare, call_of, connect
from bench.generate import Files
from convoy.api.crd import generate_crds
from convoy.api.names import API_VERSION, SYNC_REQUESTED_AT
from convoy.api.objects import Manifest
from convoy.api.times import format_time
from deploy.stack.local import Stack

ROOT = Path(__file__).resolve().parent.parent
HOME = "convoy-bench"
"""The namespace of the Releases."""
RELEASES = f"/apis/{API_VERSION}/namespaces/{HOME}/releases"
WITHIN = 300.0
"""Seconds after which a benchmark gives up waiting."""


@dataclass(frozen=True, slots=True)
class Bench:
    """Where a benchmark runs."""

    stack: Stack
    api: Bare
    folder: Path
    """Empty at the start of a run; for generated files."""
    worker_pid: int

    @property
    def kubectl(self) -> Path:
        """kubectl of the stack's own version."""
        return self.stack.tool("kubectl", note)

    @property
    def rss_mb(self) -> int:
        """The highest resident memory of the worker process so far, in MB."""
        status = Path(f"/proc/{self.worker_pid}/status").read_text()
        peak = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
        return round(int(peak.split()[1]) / 1000)


def report(bench: str, **fields: Any) -> None:
    """Print the one line of a benchmark, floats rounded to what they are worth."""
    rounded = {name: round(value, 3) if isinstance(value, float) else value for name, value in fields.items()}
    print(json.dumps({"bench": bench, **rounded}), flush=True)


def size(default: int) -> int:
    """Return how large an input to measure: the default, or `CONVOY_BENCH_SIZE` to see that it works."""
    return int(os.environ.get("CONVOY_BENCH_SIZE", default))


def median(values: Sequence[float]) -> float:
    """Return the median of at least three runs."""
    assert len(values) >= 3
    return statistics.median(values)


@asynccontextmanager
async def installed(stack: Stack, folder: Path) -> AsyncIterator[Bench]:
    """Install the CRDs and run convoy as a process of its own, as an installation would."""
    async with connect(stack.kubeconfig) as api:
        for crd in generate_crds():
            await api.apply(call_of(crd), manager="bench")
            names = crd["spec"]["names"]
            await api.until(f"/apis/{API_VERSION}/{names['plural']}", exists=True)
        for name in (HOME, "convoy-system"):
            await api.apply(call_of(namespace(name)), manager="bench")
        cluster = _resource("Cluster", "target", {"inCluster": {}})
        await api.apply(call_of(cluster), manager="bench")
        async with convoy(stack, folder, "run") as pid:
            yield Bench(stack, api, folder, pid)


def namespace(name: str) -> Manifest:
    """Return a Namespace."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def release(name: str, files: Files, *, automatic: bool = False) -> Manifest:
    """Return a Release of inline files on the stack's own cluster, without an interval of its own."""
    return release_of(name, {"inline": {"files": files}}, automatic=automatic)


def release_of(name: str, source: Any, **policy: Any) -> Manifest:
    """Return a Release of any source on the stack's own cluster; in manual mode unless the policy says."""
    spec = {
        "clusterRef": {"name": "target"},
        "source": source,
        "content": {"manifests": {}},
        "syncPolicy": policy,
    }
    return _resource("Release", name, spec)


async def reaches(api: Bare, name: str, done: Callable[[Manifest], bool]) -> Manifest:
    """Wait until a Release is as `done` says; the watch sees it within milliseconds."""
    last: Manifest = {}
    try:
        async with asyncio.timeout(WITHIN):
            async for last in api.watch(f"{RELEASES}/{name}"):
                if done(last):
                    return last
    except TimeoutError:
        pass
    raise RuntimeError(f"Release {name} did not come to it: {json.dumps(last.get('status'))[:3000]}")


async def applied(api: Bare, made: Manifest) -> None:
    """Create a Release, sync it, and wait until it is compared."""
    name = made["metadata"]["name"]
    await api.apply(call_of(made), manager="bench")
    await reaches(api, name, lambda tree: bool(condition(tree, "Applied")))
    await reaches(api, name, settled(await request_sync(api, name)))
    await in_sync(api, name)


async def in_sync(api: Bare, name: str) -> None:
    """Wait for the drift pass after a sync: it belongs to nobody's number."""
    await reaches(api, name, lambda tree: condition(tree, "InSync").get("status") == "True")


async def request_sync(api: Bare, name: str) -> str:
    """Ask for a sync by annotation and return the request's id."""
    at = format_time(datetime.now(UTC))
    await api.merge(f"{RELEASES}/{name}", {"metadata": {"annotations": {SYNC_REQUESTED_AT: at}}})
    return at


def settled(requested_at: str) -> Callable[[Manifest], bool]:
    """Return whether a request has its result; a failed one ends the benchmark."""

    def check(tree: Manifest) -> bool:
        sync = tree.get("status", {}).get("sync") or {}
        if sync.get("requestedAt") != requested_at or not sync.get("settledAt"):
            return False
        if condition(tree, "Applied").get("status") != "True":
            raise RuntimeError(f"the sync failed: {condition(tree, 'Applied')}")
        return True

    return check


def condition(tree: Manifest, kind: str) -> dict[str, Any]:
    """Return a condition of the Release's present generation, or {}."""
    for each in tree.get("status", {}).get("conditions") or ():
        if each["type"] == kind and each.get("observedGeneration") == tree["metadata"]["generation"]:
            return dict(each)
    return {}


def _resource(kind: str, name: str, spec: Any) -> Manifest:
    metadata = {"name": name, "namespace": HOME}
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": spec}


@asynccontextmanager
async def convoy(stack: Stack, folder: Path, command: str, **settings: str) -> AsyncIterator[int]:
    """Run a process of convoy as long as the block lasts and yield its id; all of a folder are one installation."""
    for tool in ("kustomize", "helm"):
        stack.tool(tool, note)
    environment = os.environ | {
        "KUBECONFIG": str(stack.kubeconfig),
        "CONVOY_TEMPORAL_ADDRESS": stack.temporal_address,
        "CONVOY_TOOLS": str(stack.tools),
        "CONVOY_WORK_DIR": str(folder / "work"),
        "CONVOY_RENDER_STORE_URL": f"file://{folder / 'renders'}",
        "CONVOY_ALLOW_OWN_IDENTITY": "true",
        "CONVOY_ALLOW_PRIVATE_ADDRESSES": "true",
        "CONVOY_RESYNC": "1h",
        **settings,
    }
    (folder / "renders").mkdir(exist_ok=True)
    with (folder / "convoy.log").open("ab") as log:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "workers", command, cwd=ROOT, env=environment, stdout=log, stderr=log
        )
        try:
            yield process.pid
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()


def note(text: str) -> None:
    """Tell how far a benchmark is."""
    print(text, file=sys.stderr, flush=True)
