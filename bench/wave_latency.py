"""`wave-latency`: from "the Deployment is ready" to the first apply of the next wave, which waits for it.

Both moments are those at which a watch of the benchmark's own shows them: the Deployment's status that convoy's rules
call healthy, and the object of the next wave with its new content.
"""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Callable
from time import perf_counter

from bench.bare import Bare, call_of, path_of
from bench.generate import Files
from bench.harness import RELEASES, Bench, condition, namespace, reaches, release, report
from convoy.api.names import SYNC_WAVE
from convoy.api.objects import Manifest, key_of
from convoy.health.judge import judge

NAME = "wave-latency"
ROUNDS = 20
TARGET = "bench-wave"


async def run(bench: Bench) -> None:
    """Measure and print."""
    await bench.api.apply(call_of(namespace(TARGET)), manager="bench")
    tree = release(TARGET, _files(0), automatic=True)
    tree["spec"]["syncWaves"] = [{"wave": 1, "strategy": "Health", "timeout": "5m"}]
    await bench.api.apply(call_of(tree), manager="bench")
    await reaches(bench.api, TARGET, _at_rest)
    ready: dict[str, float] = {}
    applied: dict[str, float] = {}
    watching = [
        asyncio.create_task(_record(bench.api, path_of(_deployment(0)), _ready_round, ready)),
        asyncio.create_task(_record(bench.api, path_of(_config_map(0)), _applied_round, applied)),
    ]
    took = []
    for number in range(1, ROUNDS + 1):
        await bench.api.merge(
            f"{RELEASES}/{TARGET}", {"spec": {"source": {"inline": {"files": _files(number)}}}}
        )
        await reaches(bench.api, TARGET, _at_rest)
        await asyncio.sleep(2.0)
        took.append((applied[str(number)] - ready[str(number)]) * 1000)
    for task in watching:
        task.cancel()
    await bench.api.delete(f"{RELEASES}/{TARGET}")
    await bench.api.delete(path_of(namespace(TARGET)))
    report(
        NAME,
        convoy=statistics.median(took),
        unit="ms",
        p95=statistics.quantiles(took, n=20)[-1],
        limit=1500,
        rounds=ROUNDS,
        rssMB=bench.rss_mb,
    )


async def _record(api: Bare, path: str, number: Callable[[Manifest], str], seen: dict[str, float]) -> None:
    async for live in api.watch(path):
        found = number(live)
        if found:
            seen.setdefault(found, perf_counter())


def _at_rest(tree: Manifest) -> bool:
    """Whether the latest spec is applied, all waves of it."""
    return condition(tree, "Applied").get("status") == "True"


def _ready_round(live: Manifest) -> str:
    """Return which round's Deployment is healthy; empty where none is."""
    (variable,) = live["spec"]["template"]["spec"]["containers"][0]["env"]
    return str(variable["value"]) if judge(key_of(live), live).healthy else ""


def _applied_round(live: Manifest) -> str:
    return str(live["data"]["number"])


def _files(number: int) -> Files:
    return {
        "a.json": call_of(_deployment(number)).body.decode(),
        "b.json": call_of(_config_map(number)).body.decode(),
    }


def _deployment(number: int) -> Manifest:
    container = {
        "name": "main",
        "image": "fake.local/ready-after-1s:1",
        "env": [{"name": "NUMBER", "value": str(number)}],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "probe", "namespace": TARGET},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": "probe"}},
            "template": {"metadata": {"labels": {"app": "probe"}}, "spec": {"containers": [container]}},
        },
    }


def _config_map(number: int) -> Manifest:
    metadata = {"name": "probe", "namespace": TARGET, "annotations": {SYNC_WAVE: "1"}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"number": str(number)}}
