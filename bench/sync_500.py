"""`sync-500`: 500 new objects in one sync, beside the same work by kubectl and the bare floor.

convoy's time is from the request (the annotation) to the result in `status.sync.settledAt`: fetch, render, dry run,
store, apply, inventory, status.
"""

from __future__ import annotations

from time import perf_counter

from bench import generate, peers
from bench.bare import call_of, path_of
from bench.harness import (
    RELEASES,
    Bench,
    condition,
    in_sync,
    median,
    namespace,
    note,
    reaches,
    release,
    report,
    request_sync,
    settled,
)

NAME = "sync-500"
OBJECTS = 500
ROUNDS = 3
IN_FLIGHT = 32
"""As many as convoy has in flight by default (Cluster, maxInFlight)."""


async def run(bench: Bench) -> None:
    """Measure and print."""
    times: dict[str, list[float]] = {"convoy": [], "kubectl": [], "floor": []}
    for number in range(ROUNDS):
        for who, contender in (("convoy", _convoy), ("kubectl", _kubectl), ("floor", _floor)):
            seconds = await contender(bench, f"bench-{who}-{number}")
            note(f"round {number + 1} of {ROUNDS}: {who} {seconds:.2f} s")
            times[who].append(seconds)
    convoy, kubectl, floor = (median(times[who]) for who in ("convoy", "kubectl", "floor"))
    report(
        NAME,
        convoy=convoy,
        peer="kubectl dry run + apply",
        peerValue=kubectl,
        unit="s",
        ratio=convoy / kubectl,
        limit=floor,
        limitRatio=convoy / floor,
        rssMB=bench.rss_mb,
        objects=OBJECTS,
    )


async def _convoy(bench: Bench, target: str) -> float:
    objects = generate.applications(OBJECTS, namespace=target)
    await bench.api.apply(call_of(namespace(target)), manager="bench")
    await bench.api.apply(call_of(release(target, generate.files_of(objects))), manager="bench")
    # Both verdicts about the new Release first, so that nothing else runs during the sync.
    await reaches(
        bench.api, target, lambda tree: bool(condition(tree, "Applied") and condition(tree, "InSync"))
    )
    began = perf_counter()
    request = await request_sync(bench.api, target)
    await reaches(bench.api, target, settled(request))
    seconds = perf_counter() - began
    await in_sync(bench.api, target)
    await bench.api.delete(f"{RELEASES}/{target}")
    await bench.api.delete(path_of(namespace(target)))
    return seconds


async def _kubectl(bench: Bench, target: str) -> float:
    objects = generate.applications(OBJECTS, namespace=target)
    folder = generate.write_files(generate.files_of(objects), bench.folder / target)
    await bench.api.apply(call_of(namespace(target)), manager="bench")
    seconds = await peers.kubectl_dry_run_and_apply(bench.kubectl, bench.stack.kubeconfig, folder)
    await bench.api.delete(path_of(namespace(target)))
    return seconds


async def _floor(bench: Bench, target: str) -> float:
    calls = [call_of(manifest) for manifest in generate.applications(OBJECTS, namespace=target)]
    await bench.api.apply(call_of(namespace(target)), manager="bench")
    seconds = await peers.floor_sync(bench.api, calls, in_flight=IN_FLIGHT)
    await bench.api.delete(path_of(namespace(target)))
    return seconds
