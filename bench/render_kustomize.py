"""`render-kustomize`: a fresh render of a kustomization of 500 objects, beside `kustomize build` alone.

convoy's time holds everything from the source to the saved render: files on the disk, the check of what the
kustomization names, kustomize, reading, normalising, renderRef, encryption.
"""

from __future__ import annotations

from time import perf_counter

import yaml

from bench import generate
from bench.harness import Bench, median, note, report
from bench.rendering import rendering, timed_program

NAME = "render-kustomize"
OBJECTS = 500
ROUNDS = 5


async def run(bench: Bench) -> None:
    """Measure and print."""
    files = generate.files_of(generate.applications(OBJECTS, namespace="bench"))
    kustomization = {"resources": sorted(files), "namespace": "shop", "labels": [{"pairs": {"bench": "yes"}}]}
    files["kustomization.yaml"] = yaml.safe_dump(kustomization)
    folder = generate.write_files(files, bench.folder / "kustomization")
    times: dict[str, list[float]] = {"convoy": [], "kustomize": []}
    for number in range(ROUNDS):
        async with rendering(bench, f"kustomize-{number}") as here:
            began = perf_counter()
            render = await here.render({"inline": {"files": files}}, {"kustomize": {}})
            times["convoy"].append(perf_counter() - began)
            assert len(render.objects) == OBJECTS
        kustomize = bench.stack.tool("kustomize", note)
        times["kustomize"].append(await timed_program(kustomize, "build", folder))
        note(f"round {number + 1} of {ROUNDS}: {times['convoy'][-1]:.2f} s, {times['kustomize'][-1]:.2f} s")
    convoy, peer = median(times["convoy"]), median(times["kustomize"])
    report(
        NAME,
        convoy=convoy,
        peer="kustomize build",
        peerValue=peer,
        unit="s",
        ratio=convoy / peer,
        objects=OBJECTS,
    )
