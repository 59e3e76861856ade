"""`diff-500`: `/diff` of 500 objects in sync, through kube-apiserver, beside a drift pass over the same objects.

Both resolve the same desired render and compare it with the same engine; the one is asked by HTTP and answers with a
line for each object, the other by the update `check` of the Drift workflow.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import perf_counter

from bench import generate
from bench.bare import Call, call_of, path_of
from bench.checks import Checks
from bench.harness import (
    HOME,
    RELEASES,
    Bench,
    applied,
    convoy,
    median,
    namespace,
    note,
    release,
    report,
    size,
)
from convoy.kube.encode import apply_body
from convoy.settings import Settings
from deploy.stack.aggregation import GROUP, VERSION, make_aggregation
from deploy.stack.ports import free_ports

NAME = "diff-500"
OBJECTS = size(500)
ROUNDS = 5
TARGET = "bench-diff"
DIFF = f"/apis/{GROUP}/{VERSION}/namespaces/{HOME}/releases/{TARGET}/diff"
API_SERVICE = f"/apis/apiregistration.k8s.io/v1/apiservices/{VERSION}.{GROUP}"


async def run(bench: Bench) -> None:
    """Measure and print."""
    files = generate.files_of(generate.applications(OBJECTS, namespace=TARGET))
    await bench.api.apply(call_of(namespace(TARGET)), manager="bench")
    await applied(bench.api, release(TARGET, files))
    checks = await Checks.connect(bench.stack.temporal_address)
    times: dict[str, list[float]] = {"diff": [], "pass": []}
    async with _serving(bench):
        await _diff(bench)  # connects to the target, as a process that has served before
        for number in range(ROUNDS):
            times["diff"].append(await _diff(bench))
            times["pass"].append(await checks.check(TARGET))
            told = ", ".join(f"{who} {times[who][-1]:.2f} s" for who in times)
            note(f"round {number + 1} of {ROUNDS}: {told}")
    await bench.api.delete(f"{RELEASES}/{TARGET}")
    await bench.api.delete(path_of(namespace(TARGET)))
    diff, drift_pass = median(times["diff"]), median(times["pass"])
    report(
        NAME,
        convoy=diff,
        peer="a drift pass",
        peerValue=drift_pass,
        unit="s",
        ratio=diff / drift_pass,
        objects=OBJECTS,
    )


async def _diff(bench: Bench) -> float:
    began = perf_counter()
    answer = json.loads(await bench.api.send("GET", DIFF))
    took = perf_counter() - began
    assert answer["inSync"]["status"] == "True", answer["inSync"]
    assert len(answer["objects"]) == OBJECTS
    return took


@asynccontextmanager
async def _serving(bench: Bench) -> AsyncIterator[None]:
    """Run `convoy apiserver` behind kube-apiserver."""
    own = str(Settings.model_fields["namespace"].default)
    api = make_aggregation(bench.folder / "pki", namespace=own, port=free_ports(1)[0])
    settings = {
        "CONVOY_API_ADDRESS": f"127.0.0.1:{api.port}",
        "CONVOY_TLS_CERT_FILE": str(api.serving.certificate),
        "CONVOY_TLS_KEY_FILE": str(api.serving.key),
    }
    service, api_service = api.manifests()
    async with convoy(bench.stack, bench.folder, "apiserver", **settings):
        await bench.api.apply(call_of(service), manager="bench")
        await bench.api.apply(Call(API_SERVICE, apply_body(api_service)), manager="bench")
        try:
            await bench.api.until(DIFF, exists=True)
            yield
        finally:
            # Nobody answers for it from here on, which would keep namespaces from being deleted.
            await bench.api.delete(API_SERVICE)
            await bench.api.delete(path_of(service))
