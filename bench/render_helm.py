"""`render-helm`: a fresh render of cert-manager's chart, beside `helm template` alone.

convoy's time holds everything from the source to the saved render, the target's version and API list included.
"""

from __future__ import annotations

import json
from pathlib import Path
from time import perf_counter

from bench.harness import Bench, median, note, report
from bench.rendering import go_module, rendering, timed_program

NAME = "render-helm"
MODULE = "github.com/cert-manager/cert-manager@v1.21.2"
VALUES = {"crds": {"enabled": True}, "startupapicheck": {"enabled": False}}
ROUNDS = 9


async def run(bench: Bench) -> None:
    """Measure and print."""
    chart = go_module(MODULE) / "deploy" / "charts" / "cert-manager"
    files = _files(chart)
    values = bench.folder / "values.json"
    values.write_text(json.dumps(VALUES))
    times: dict[str, list[float]] = {"convoy": [], "helm": []}
    objects = 0
    for number in range(ROUNDS):
        async with rendering(bench, f"helm-{number}") as here:
            began = perf_counter()
            render = await here.render({"inline": {"files": files}}, {"helm": {"values": VALUES}})
            times["convoy"].append(perf_counter() - began)
            objects = len(render.objects)
        helm = bench.stack.tool("helm", note)
        argv: list[str | Path] = [helm, "template", "bench", chart, "--include-crds", "--values", values]
        times["helm"].append(await timed_program(*argv))
        note(f"round {number + 1} of {ROUNDS}: {times['convoy'][-1]:.2f} s, {times['helm'][-1]:.2f} s")
    convoy, peer = median(times["convoy"]), median(times["helm"])
    report(
        NAME,
        convoy=convoy,
        peer="helm template",
        peerValue=peer,
        unit="s",
        ratio=convoy / peer,
        objects=objects,
    )


def _files(folder: Path) -> dict[str, str]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text() for path in paths}
