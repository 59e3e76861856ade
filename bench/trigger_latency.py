"""`trigger-latency`: from a change of a Release's spec to its first apply on the target, with nothing else to do.

The apply is noticed by a watch on the object that it changes, so the number holds the apply itself and the delivery
of its event as well, some milliseconds more than the moment at which the request was sent.
"""

from __future__ import annotations

import asyncio
import statistics
from time import perf_counter

from bench.bare import Bare, call_of, path_of
from bench.generate import Files
from bench.harness import (
    RELEASES,
    Bench,
    condition,
    namespace,
    reaches,
    release,
    report,
)
from convoy.api.objects import Manifest

NAME = "trigger-latency"
CHANGES = 50
IDLE = 1.5
"""Seconds between a settled sync and the next change: the watcher sends at most one signal a second."""


async def run(bench: Bench) -> None:
    """Measure and print."""
    target = "bench-trigger"
    await bench.api.apply(call_of(namespace(target)), manager="bench")
    await bench.api.apply(call_of(release(target, _files(target, 0), automatic=True)), manager="bench")
    await reaches(bench.api, target, _at_rest)
    seen: dict[str, float] = {}
    watching = asyncio.create_task(_record(bench.api, path_of(_config_map(target, 0)), seen))
    took = []
    for number in range(1, CHANGES + 1):
        await asyncio.sleep(IDLE)
        began = perf_counter()
        spec = {"source": {"inline": {"files": _files(target, number)}}}
        await bench.api.merge(f"{RELEASES}/{target}", {"spec": spec})
        await reaches(bench.api, target, _at_rest)
        took.append((seen[str(number)] - began) * 1000)
    watching.cancel()
    await bench.api.delete(f"{RELEASES}/{target}")
    await bench.api.delete(path_of(namespace(target)))
    report(
        NAME,
        convoy=statistics.median(took),
        unit="ms",
        p95=statistics.quantiles(took, n=20)[-1],
        changes=CHANGES,
        rssMB=bench.rss_mb,
    )


async def _record(api: Bare, path: str, seen: dict[str, float]) -> None:
    async for live in api.watch(path):
        seen.setdefault(live["data"]["number"], perf_counter())


def _at_rest(tree: Manifest) -> bool:
    """Whether the latest spec is applied and compared."""
    return all(condition(tree, kind).get("status") == "True" for kind in ("Applied", "InSync"))


def _files(target: str, number: int) -> Files:
    return {"app.json": call_of(_config_map(target, number)).body.decode()}


def _config_map(target: str, number: int) -> Manifest:
    metadata = {"name": "probe", "namespace": target}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"number": str(number)}}
