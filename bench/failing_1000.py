"""`failing-1000`: 1,000 Releases whose source is missing and which back off, beside one that is healthy.

Measured are the CPU that they cost the worker and the Temporal server over one whole period of their backoff, in
which each of them is tried once, and the reconcile latency of the healthy one, both beside the idle case.
"""

from __future__ import annotations

import asyncio
import os
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import msgspec

from bench.bare import call_of, path_of
from bench.generate import Files
from bench.harness import (
    RELEASES,
    Bench,
    condition,
    namespace,
    note,
    reaches,
    release,
    release_of,
    report,
    request_sync,
    settled,
    size,
)
from bench.usage import cpu_percent, pid_of
from convoy.api.objects import Manifest

NAME = "failing-1000"
RELEASES_FAILING = size(1000)
PERIOD = int(os.environ.get("CONVOY_BENCH_PERIOD", 300))
"""Seconds of the backoff."""
IDLE_SECONDS = min(60, PERIOD)
SYNCS = min(20, RELEASES_FAILING // 10)
HEALTHY = "bench-healthy"
LABELS = {"bench": "failing"}
_WITHIN = 1800.0


@dataclass(frozen=True, slots=True)
class Load:
    """What was measured in one situation."""

    worker: float
    server: float
    latency: float
    """Seconds from the request of a sync of the healthy Release to its result, the median."""


async def run(bench: Bench) -> None:
    """Measure and print."""
    await bench.api.apply(call_of(namespace(HEALTHY)), manager="bench")
    await bench.api.apply(call_of(release(HEALTHY, _files(), automatic=True)), manager="bench")
    await reaches(bench.api, HEALTHY, lambda tree: condition(tree, "Applied").get("status") == "True")
    idle = await _measure(bench, IDLE_SECONDS)
    note(f"idle: {idle}")
    await _create(bench)
    failing = await _measure(bench, PERIOD)
    note(f"failing: {failing}")
    report(
        NAME,
        convoy=failing.worker,
        unit="% of a core",
        limit=idle.worker,
        server=failing.server,
        serverIdle=idle.server,
        latencyMs=failing.latency * 1000,
        latencyIdleMs=idle.latency * 1000,
        latencyRatio=failing.latency / idle.latency,
        rssMB=bench.rss_mb,
        releases=RELEASES_FAILING,
        backoffSeconds=PERIOD,
    )
    await _delete(bench)
    await bench.api.delete(f"{RELEASES}/{HEALTHY}")
    await bench.api.delete(path_of(namespace(HEALTHY)))


async def _measure(bench: Bench, seconds: float) -> Load:
    host, _, port = bench.stack.temporal_address.partition(":")
    pids = (bench.worker_pid, pid_of("start-dev", "--port", port))
    note(f"{seconds:.0f} s of CPU with Temporal at {host}:{port}")
    # The CPU first, without the load of the syncs that follow.
    worker, server = await cpu_percent(pids, seconds=seconds)
    took = []
    for _ in range(SYNCS):
        began = perf_counter()
        request = await request_sync(bench.api, HEALTHY)
        await reaches(bench.api, HEALTHY, settled(request))
        took.append(perf_counter() - began)
        await asyncio.sleep(1.5)  # the next request is of another second
    return Load(worker, server, statistics.median(took))


async def _create(bench: Bench) -> None:
    backoff = f"{PERIOD}s"
    for number in range(RELEASES_FAILING):
        failing = release_of(
            f"bench-failing-{number:04d}",
            {"configMap": {"name": "nowhere"}},
            automatic=True,
            retryBackoff={"initial": backoff, "max": backoff},
        )
        failing["metadata"]["labels"] = LABELS
        await bench.api.apply(call_of(failing), manager="bench")
    await _until_all(bench, lambda trees: len(trees) == sum(map(_has_failed, trees)))
    note(f"{RELEASES_FAILING} Releases have failed")


async def _delete(bench: Bench) -> None:
    await bench.api.send("DELETE", RELEASES, params={"labelSelector": "bench=failing"})
    await _until_all(bench, lambda trees: not trees)


async def _until_all(bench: Bench, done: Callable[[list[Manifest]], bool]) -> None:
    async with asyncio.timeout(_WITHIN):
        while True:
            answer = await bench.api.send("GET", RELEASES, params={"labelSelector": "bench=failing"})
            if done(msgspec.json.decode(answer)["items"]):
                return
            await asyncio.sleep(2)


def _has_failed(tree: Manifest) -> bool:
    return condition(tree, "Applied").get("reason") == "SourceNotReady" and "retry" in tree["status"]


def _files() -> Files:
    probe = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "probe", "namespace": HEALTHY},
        "data": {"a": "b"},
    }
    return {"app.json": call_of(probe).body.decode()}
