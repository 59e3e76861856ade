"""`health-200`: what it costs to wait for 200 rollouts of 10 objects each, beside polling every object every 5 s.

The objects are custom resources with a health check that does not hold, so that no controller works beside convoy and
all that is counted is the waiting. Requests are counted by the API server, of these objects and of convoy's own;
convoy's CPU is that of the whole process, heartbeats to Temporal included, and the poll's that of reading alone.
"""

from __future__ import annotations

import asyncio
import re
import time

import msgspec

from bench.bare import Call, call_of, path_of
from bench.harness import HOME, RELEASES, Bench, condition, namespace, note, reaches, report, size
from bench.usage import cpu_seconds
from convoy.api.names import API_VERSION
from convoy.api.objects import Manifest
from convoy.kube.encode import apply_body

NAME = "health-200"
COUNT = size(200)
OBJECTS = 10
SECONDS = 60.0
PERIOD = 5.0
GROUP = "bench.example.org"
TARGET = "bench-health"
BOXES = f"/apis/{GROUP}/v1/namespaces/{TARGET}/boxes"
_SAMPLE = re.compile(
    r'^apiserver_request_total\{.*resource="(?:boxes|releases|releaseinventories|clusters)".*\} (\S+)$',
    re.MULTILINE,
)


async def run(bench: Bench) -> None:
    """Measure and print."""
    await bench.api.apply(call_of(_crd()), manager="bench")
    await bench.api.until(f"/apis/{GROUP}/v1/boxes", exists=True)
    await bench.api.apply(call_of(namespace(TARGET)), manager="bench")
    names = [f"bench-health-{number:03d}" for number in range(COUNT)]
    for name in names:
        await bench.api.apply(call_of(_release(name)), manager="bench")
    for name in names:
        await reaches(bench.api, name, lambda tree: condition(tree, "Healthy").get("reason") == "Progressing")
    await asyncio.sleep(15.0)  # the last syncs and their drift passes end
    note(f"{COUNT} Releases are Progressing")

    sent, cpu = await _requests(bench), cpu_seconds(bench.worker_pid)
    await asyncio.sleep(SECONDS)
    requests = (await _requests(bench) - sent) / SECONDS
    used = 100 * (cpu_seconds(bench.worker_pid) - cpu) / SECONDS

    polled, poll_used = await _poll(
        bench, [Call(f"{BOXES}/{name}-{n}", b"") for name in names for n in range(OBJECTS)]
    )
    took = await _until_healthy(bench, names[0])
    for name in names:
        await bench.api.delete(f"{RELEASES}/{name}")
    await bench.api.delete(path_of(namespace(TARGET)))
    report(
        NAME,
        convoy=requests,
        peer=f"poll each object every {PERIOD:g} s",
        peerValue=polled,
        unit="requests/s",
        ratio=requests / polled,
        cpuPercent=used,
        peerCpuPercent=poll_used,
        healthyAfterMs=1000 * took,
        rssMB=bench.rss_mb,
        releases=COUNT,
        objects=COUNT * OBJECTS,
    )


async def _poll(bench: Bench, calls: list[Call]) -> tuple[float, float]:
    """Read every object every few seconds; returns requests a second and the CPU that this takes."""
    sent, cpu, began = await _requests(bench), time.process_time(), time.monotonic()
    for _ in range(3):
        next_round = time.monotonic() + PERIOD
        await bench.api.get_all(calls, in_flight=32)
        await asyncio.sleep(max(0.0, next_round - time.monotonic()))
    took = time.monotonic() - began
    return (await _requests(bench) - sent) / took, 100 * (time.process_time() - cpu) / took


async def _until_healthy(bench: Bench, name: str) -> float:
    """Make the objects of one Release healthy; returns how long convoy takes to say so."""
    for number in range(OBJECTS):
        patch = msgspec.json.encode({"status": {"ready": True}})
        headers = {"Content-Type": "application/merge-patch+json"}
        await bench.api.send("PATCH", f"{BOXES}/{name}-{number}/status", body=patch, headers=headers)
    began = time.monotonic()
    await reaches(bench.api, name, lambda tree: condition(tree, "Healthy").get("status") == "True")
    return time.monotonic() - began


async def _requests(bench: Bench) -> float:
    text = (await bench.api.send("GET", "/metrics")).decode()
    return sum(float(count) for count in _SAMPLE.findall(text))


def _release(name: str) -> Manifest:
    files = {f"{number}.json": apply_body(_box(f"{name}-{number}")).decode() for number in range(OBJECTS)}
    check = {"group": GROUP, "kind": "Box", "healthy": "has(object.status) && object.status.ready"}
    return {
        "apiVersion": API_VERSION,
        "kind": "Release",
        "metadata": {"name": name, "namespace": HOME},
        "spec": {
            "clusterRef": {"name": "target"},
            "source": {"inline": {"files": files}},
            "content": {"manifests": {}},
            "syncPolicy": {"automatic": True},
            "healthChecks": [check],
        },
    }


def _box(name: str) -> Manifest:
    metadata = {"name": name, "namespace": TARGET}
    return {"apiVersion": f"{GROUP}/v1", "kind": "Box", "metadata": metadata, "spec": {}}


def _crd() -> Manifest:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": schema},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"boxes.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": "boxes", "kind": "Box"},
            "versions": [version],
        },
    }
