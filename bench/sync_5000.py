"""`sync-5000`: 5,000 ConfigMaps of one Release from git: the sync, another without change, a prune of half of them.

Each time is from the request to its result and holds everything: fetch, render, dry run, store, apply, inventory. A
prune is a sync of the other half as well. kubectl does the same with `--prune --applyset`; the bare floor sends the
same requests and nothing else. One round: each number is already that of ten thousand requests.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from time import perf_counter

from bench import generate, histories, peers
from bench.bare import Call, call_of, path_of
from bench.harness import (
    HOME,
    RELEASES,
    Bench,
    condition,
    in_sync,
    namespace,
    note,
    reaches,
    release_of,
    report,
    request_sync,
    settled,
    size,
)

NAME = "sync-5000"
OBJECTS = size(5000)
A_FILE = 50
"""Objects a file."""
IN_FLIGHT = 32
PHASES = ("sync", "again", "prune")

Phases = AsyncIterator[float]
"""The seconds of each phase, in their order."""


async def run(bench: Bench) -> None:
    """Measure and print. The three take turns in each phase, so that all of a ratio is of the same minutes."""
    convoy, kubectl, floor = (
        _convoy(bench, "bench-5000-convoy"),
        _kubectl(bench, "bench-5000-kubectl"),
        _floor(bench, "bench-5000-floor"),
    )
    took: dict[str, dict[str, float]] = {}
    for phase in PHASES:
        lower, own, upper = await anext(floor), await anext(convoy), await anext(kubectl)
        took[phase] = {
            "convoy": round(own, 3),
            "peer": round(upper, 3),
            "limit": round(lower, 3),
            "ratio": round(own / upper, 3),
            "limitRatio": round(own / lower, 3),
        }
        note(f"{phase}: {took[phase]}")
    sizes = await histories.measure(
        bench.stack.temporal_address, f"WorkflowId = 'sync/{HOME}/bench-5000-convoy'"
    )
    await bench.api.delete(f"{RELEASES}/bench-5000-convoy")
    for who in ("convoy", "kubectl", "floor"):
        await bench.api.delete(path_of(namespace(f"bench-5000-{who}")))
    first = took.pop("sync")
    report(
        NAME,
        convoy=first["convoy"],
        peer="kubectl dry run + apply --prune --applyset",
        peerValue=first["peer"],
        unit="s",
        ratio=first["ratio"],
        limit=first["limit"],
        limitRatio=first["limitRatio"],
        **took,
        rssMB=bench.rss_mb,
        historyEvents=sizes.events,
        payloadBytes=sizes.payload,
        objects=OBJECTS,
    )


async def _convoy(bench: Bench, target: str) -> Phases:
    folder = await _repository(bench.folder / target, target)
    await bench.api.apply(call_of(namespace(target)), manager="bench")
    source = {"git": {"url": f"file://{folder}", "ref": {"branch": "main"}}}
    await bench.api.apply(call_of(release_of(target, source, prune={"orphaned": True})), manager="bench")
    await reaches(
        bench.api, target, lambda tree: bool(condition(tree, "Applied") and condition(tree, "InSync"))
    )
    for phase in PHASES:
        if phase == "prune":
            _halve(folder)
            await _git(folder, "commit", "--quiet", "--all", "--message", "half")
        began = perf_counter()
        request = await request_sync(bench.api, target)
        await reaches(bench.api, target, settled(request))
        took = perf_counter() - began
        await in_sync(bench.api, target)
        await asyncio.sleep(1.5)  # the next request is of another second
        yield took


async def _kubectl(bench: Bench, target: str) -> Phases:
    folder = _files(bench.folder / target, target)
    await bench.api.apply(call_of(namespace(target)), manager="bench")
    for phase in PHASES:
        if phase == "prune":
            _halve(folder)
        yield await peers.kubectl_dry_run_and_apply(
            bench.kubectl,
            bench.stack.kubeconfig,
            folder,
            prune=("--prune", "--applyset=configmaps/bench-set", f"--namespace={target}"),
        )


async def _floor(bench: Bench, target: str) -> Phases:
    calls = [call_of(each) for each in generate.config_maps(OBJECTS, namespace=target)]
    await bench.api.apply(call_of(namespace(target)), manager="bench")
    for phase in PHASES:
        gone: Sequence[Call] = ()
        if phase == "prune":
            calls, gone = calls[: OBJECTS // 2], calls[OBJECTS // 2 :]
        took = await peers.floor_sync(bench.api, calls, in_flight=IN_FLIGHT)
        began = perf_counter()
        await bench.api.get_all(gone, in_flight=IN_FLIGHT)
        for call in reversed(gone):
            await bench.api.send("DELETE", call.path)
        yield took + perf_counter() - began


def _files(folder: Path, target: str) -> Path:
    objects = generate.config_maps(OBJECTS, namespace=target)
    return generate.write_files(generate.files_of(objects, each=A_FILE), folder)


def _halve(folder: Path) -> None:
    for path in sorted(folder.glob("*.yaml"))[OBJECTS // A_FILE // 2 :]:
        path.unlink()


async def _repository(folder: Path, target: str) -> Path:
    _files(folder, target)
    await _git(folder, "init", "--quiet", "--initial-branch=main")
    await _git(folder, "add", "--all")
    await _git(folder, "commit", "--quiet", "--message", "all")
    return folder


async def _git(folder: Path, *arguments: str) -> None:
    git = shutil.which("git")
    if git is None:
        raise RuntimeError("this benchmark needs git")
    who = {f"GIT_{role}_{what}": "bench" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    process = await asyncio.create_subprocess_exec(git, *arguments, cwd=folder, env=os.environ | who)
    if await process.wait():
        raise RuntimeError(f"git {arguments[0]} failed")
