"""`drift-500`: a drift pass over 500 objects in sync, beside `kubectl diff --server-side` of the same files.

convoy's time is from the update `check` to its answer: fetch, render, compare, and the look whether a sync wrote
meanwhile. The bare floor reads each object and sends its apply as a dry run, 8 or 32 objects at a time.
"""

from __future__ import annotations

import re

from bench import generate, peers
from bench.bare import call_of, path_of
from bench.checks import Checks
from bench.harness import (
    RELEASES,
    Bench,
    applied,
    median,
    namespace,
    note,
    release,
    report,
    size,
)
from bench.usage import cpu_seconds

NAME = "drift-500"
OBJECTS = size(500)
ROUNDS = 5
TARGET = "bench-drift"
CONTENDERS = ("convoy", "kubectl", "floor8", "floor32")
_SAMPLE = re.compile(
    r'^apiserver_request_total\{.*resource="(?:configmaps|deployments|services)".*verb="(?:GET|APPLY)".*\} (\S+)$',
    re.MULTILINE,
)


async def run(bench: Bench) -> None:
    """Measure and print."""
    objects = generate.applications(OBJECTS, namespace=TARGET)
    files = generate.files_of(objects)
    folder = generate.write_files(files, bench.folder / TARGET)
    calls = [call_of(each) for each in objects]
    await bench.api.apply(call_of(namespace(TARGET)), manager="bench")
    await applied(bench.api, release(TARGET, files))

    checks = await Checks.connect(bench.stack.temporal_address)
    times: dict[str, list[float]] = {who: [] for who in CONTENDERS}
    cpu, sent = [], []
    for number in range(ROUNDS):
        cpu_before, sent_before = cpu_seconds(bench.worker_pid), await _requests(bench)
        times["convoy"].append(await checks.check(TARGET))
        cpu.append(cpu_seconds(bench.worker_pid) - cpu_before)
        sent.append(await _requests(bench) - sent_before)
        diff = (
            "diff",
            "--server-side",
            "--field-manager=convoy",
            "--force-conflicts",
            f"--filename={folder}",
        )
        times["kubectl"].append(await peers.kubectl(bench.kubectl, bench.stack.kubeconfig, *diff))
        times["floor8"].append(await peers.floor_drift(bench.api, calls, in_flight=8))
        times["floor32"].append(await peers.floor_drift(bench.api, calls, in_flight=32))
        told = ", ".join(f"{who} {times[who][-1]:.2f} s" for who in CONTENDERS)
        note(f"round {number + 1} of {ROUNDS}: {told}")
    await bench.api.delete(f"{RELEASES}/{TARGET}")
    await bench.api.delete(path_of(namespace(TARGET)))
    convoy, kubectl, floor8, floor32 = (median(times[who]) for who in CONTENDERS)
    floor = min(floor8, floor32)
    report(
        NAME,
        convoy=convoy,
        peer="kubectl diff --server-side",
        peerValue=kubectl,
        unit="s",
        ratio=convoy / kubectl,
        limit=floor,
        limitRatio=convoy / floor,
        floor8=floor8,
        floor32=floor32,
        cpuMsAnObject=1000 * median(cpu) / OBJECTS,
        requestsAnObject=median(sent) / OBJECTS,
        rssMB=bench.rss_mb,
        objects=OBJECTS,
    )


async def _requests(bench: Bench) -> float:
    """Return how many reads and applies of objects of these kinds the API server has answered."""
    text = (await bench.api.send("GET", "/metrics")).decode()
    return sum(float(count) for count in _SAMPLE.findall(text))
