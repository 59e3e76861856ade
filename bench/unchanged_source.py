"""`unchanged-source`: what a pass that finds nothing new costs for its source and render, in milliseconds of CPU.

Child processes count too (git); the servers that are asked run in processes of their own and do not.
"""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import resource
import socket
import subprocess
import sys
import tarfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bench import generate
from bench.harness import Bench, report
from bench.rendering import Rendering, rendering

NAME = "unchanged-source"
OBJECTS = 500
PASSES = 30


async def run(bench: Bench) -> None:
    """Measure and print."""
    files = generate.files_of(generate.applications(OBJECTS, namespace="bench"))
    root = bench.folder / "served"
    generate.write_files(files, root / "repository")
    _commit(root / "repository")
    _pack(files, root)
    async with _serving(root) as url, rendering(bench, "unchanged") as here:
        repository = f"file://{root / 'repository'}"
        costs = {
            "git": await _cost(here, {"git": {"url": repository}}, {"manifests": {}}),
            "http": await _cost(here, {"http": {"url": f"{url}/files.tar.gz"}}, {"manifests": {}}),
            "helm": await _cost(here, {"helm": {"url": url, "chart": "bench"}}, {"helm": {}}),
            "inline": await _cost(here, {"inline": {"files": files}}, {"manifests": {}}),
        }
    bare = _bare(repository)
    report(
        NAME,
        convoy=costs["git"],
        peer="git ls-remote",
        peerValue=bare,
        unit="ms CPU",
        ratio=costs["git"] / bare,
        **{name: costs[name] for name in ("http", "helm", "inline")},
        objects=OBJECTS,
    )


async def _cost(here: Rendering, source: Mapping[str, Any], content: Mapping[str, Any]) -> float:
    first = await here.render(source, content)
    before = _cpu()
    for _ in range(PASSES):
        assert (await here.render(source, content)).ref == first.ref
    return (_cpu() - before) * 1000 / PASSES


def _bare(repository: str) -> float:
    before = _cpu()
    for _ in range(PASSES):
        subprocess.run(["git", "ls-remote", "--symref", repository], check=True, capture_output=True)
    return (_cpu() - before) * 1000 / PASSES


def _cpu() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def _commit(folder: Path) -> None:
    git = ["git", "-C", str(folder), "-c", "user.name=bench", "-c", "user.email=bench@example.org"]
    for arguments in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "Bench"]):
        subprocess.run([*git, *arguments], check=True)


def _pack(files: generate.Files, root: Path) -> None:
    (root / "files.tar.gz").write_bytes(_archive(files))
    chart = {"bench/Chart.yaml": "apiVersion: v2\nname: bench\nversion: 1.0.0\n"}
    packed = _archive(chart | {f"bench/templates/{name}": text for name, text in files.items()})
    (root / "bench-1.0.0.tgz").write_bytes(packed)
    digest = hashlib.sha256(packed).hexdigest()
    entry = {"version": "1.0.0", "urls": ["bench-1.0.0.tgz"], "digest": digest}
    (root / "index.yaml").write_text(json.dumps({"apiVersion": "v1", "entries": {"bench": [entry]}}))


def _archive(files: generate.Files) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
    return buffer.getvalue()


@asynccontextmanager
async def _serving(folder: Path) -> AsyncIterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    argv = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1", "--directory", str(folder)]
    silent = asyncio.subprocess.DEVNULL
    server = await asyncio.create_subprocess_exec(*argv, stdout=silent, stderr=silent)
    try:
        async with asyncio.timeout(30):
            while True:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                    writer.close()
                    break
                except ConnectionRefusedError:
                    await asyncio.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        await server.wait()
