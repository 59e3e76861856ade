"""`drift-many`: whether one Release's drift passes are in the way of another's.

A neighbour: the latency of a small Release's pass while that of a Release with 5,000 objects runs on the same
cluster, beside the same when nothing else runs. A black hole: the passes of the Releases on ten clusters, all asked for
at once, of which one accepts connections and never answers, beside the same before that one was there.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from time import perf_counter
from typing import Any

import yaml

from bench import generate
from bench.bare import call_of, path_of
from bench.checks import Checks
from bench.harness import (
    HOME,
    RELEASES,
    Bench,
    applied,
    condition,
    median,
    namespace,
    note,
    reaches,
    release,
    report,
    size,
)
from convoy.api.names import API_VERSION
from convoy.api.objects import Manifest

NAME = "drift-many"
OBJECTS = size(5000)
A_FILE = 250
"""Objects a file."""
IDLE_CHECKS = 30
BIG_PASSES = 3
CLUSTERS = 9
A_CLUSTER = 10
"""Releases on each cluster."""
ROUNDS = 5
TARGET = "bench-many"


async def run(bench: Bench) -> None:
    """Measure and print."""
    await bench.api.apply(call_of(namespace(TARGET)), manager="bench")
    checks = await Checks.connect(bench.stack.temporal_address)
    neighbour = await _neighbour(bench, checks)
    black_hole = await _black_hole(bench, checks)
    await bench.api.delete(path_of(namespace(TARGET)))
    report(NAME, unit="s", **neighbour, **black_hole, rssMB=bench.rss_mb, objects=OBJECTS)


# --- a neighbour -------------------------------------------------------------------------------------


async def _neighbour(bench: Bench, checks: Checks) -> dict[str, float]:
    await applied(bench.api, _small("small"))
    await applied(bench.api, _big("big"))
    idle = [await checks.check("small") for _ in range(IDLE_CHECKS)]
    note(f"idle: {median(idle):.3f} s")
    busy: list[float] = []
    passes = []
    for _ in range(BIG_PASSES):
        big = asyncio.create_task(checks.check("big"))
        await asyncio.sleep(0.5)  # the big one is at work
        while not big.done():
            busy.append(await checks.check("small"))
        passes.append(await big)
        note(f"a pass over {OBJECTS} objects: {passes[-1]:.2f} s")
    note(f"the small one meanwhile: {median(busy):.3f} s, at most {max(busy):.3f} s")
    for name in ("small", "big"):
        await bench.api.delete(f"{RELEASES}/{name}")
    return {
        "bigPass": median(passes),
        "idle": median(idle),
        "beside": median(busy),
        "besideMax": max(busy),
        "besideRatio": median(busy) / median(idle),
    }


def _big(name: str) -> Manifest:
    """Return a Release of so many small objects that it just ends below the 1 MB of an object."""
    objects = [call_of(_config_map(f"{name}-{number}")).body.decode() for number in range(OBJECTS)]
    slices = range(0, OBJECTS, A_FILE)
    return release(name, {f"{at:05d}.yaml": "\n---\n".join(objects[at : at + A_FILE]) for at in slices})


def _small(name: str, *, cluster: str = "target") -> Manifest:
    objects = [_config_map(f"{name}-{number}") for number in range(3)]
    made = release(name, generate.files_of(objects))
    made["spec"]["clusterRef"] = {"name": cluster}
    return made


def _config_map(name: str) -> Manifest:
    metadata = {"name": name, "namespace": TARGET}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"k": "v"}}


# --- a black hole ------------------------------------------------------------------------------------


async def _black_hole(bench: Bench, checks: Checks) -> dict[str, float]:
    names = []
    for number in range(CLUSTERS):
        cluster = f"good-{number}"
        await bench.api.apply(call_of(_resource("Cluster", cluster, {"inCluster": {}})), manager="bench")
        mine = [f"{cluster}-{each}" for each in range(A_CLUSTER)]
        await asyncio.gather(*(applied(bench.api, _small(name, cluster=cluster)) for name in mine))
        names += mine
    alone = await _rounds(checks, names, ())
    async with _accepts_and_never_answers() as address:
        await _add_cluster(bench, "hole", address)
        lost = [f"hole-{each}" for each in range(A_CLUSTER)]
        for name in lost:
            await bench.api.apply(call_of(_small(name, cluster="hole")), manager="bench")
        for name in lost:
            await reaches(bench.api, name, lambda tree: condition(tree, "InSync").get("status") == "Unknown")
        beside = await _rounds(checks, names, lost)
        for name in (*names, *lost):
            await bench.api.send("DELETE", f"{RELEASES}/{name}")
        for name in names:
            await bench.api.until(f"{RELEASES}/{name}", exists=False)
    return {
        "nineClusters": median(alone),
        "besideBlackHole": median(beside),
        "blackHoleRatio": median(beside) / median(alone),
    }


async def _rounds(checks: Checks, names: Sequence[str], lost: Sequence[str]) -> list[float]:
    """Ask for all passes at once; return the seconds until those that can be answered are."""
    took = []
    for _ in range(ROUNDS):
        unanswered = [asyncio.create_task(checks.check(name, verdict="Undetermined")) for name in lost]
        began = perf_counter()
        await asyncio.gather(*(checks.check(name) for name in names))
        took.append(perf_counter() - began)
        note(f"{len(names)} passes on {CLUSTERS} clusters: {took[-1]:.2f} s")
        await asyncio.gather(*unanswered)
    return took


@asynccontextmanager
async def _accepts_and_never_answers() -> AsyncIterator[str]:
    held: list[asyncio.StreamWriter] = []

    async def hold(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        held.append(writer)

    async with await asyncio.start_server(hold, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        for writer in held:
            writer.close()


async def _add_cluster(bench: Bench, name: str, address: str) -> None:
    kubeconfig = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": address}}],
        "users": [{"name": name, "user": {"token": "nobody"}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
    }
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": HOME},
        "stringData": {"kubeconfig": yaml.safe_dump(kubeconfig)},
    }
    await bench.api.apply(call_of(secret), manager="bench")
    ref = {"kubeconfigSecretRef": {"name": name, "key": "kubeconfig"}}
    await bench.api.apply(call_of(_resource("Cluster", name, ref)), manager="bench")


def _resource(kind: str, name: str, spec: Any) -> Manifest:
    metadata = {"name": name, "namespace": HOME}
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": spec}
