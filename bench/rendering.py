"""What the benchmarks of rendering share: a renderer as a worker has it, in this process, against the stack."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from bench.harness import Bench, note
from convoy.api.release import Release
from convoy.api.rendered import Render
from convoy.kube.client import KubeClient
from convoy.kube.connection import connect_kubeconfig
from convoy.kube.discovery import Discovery
from convoy.render.resolve import Renderer, RenderOptions
from convoy.sources.fetched import SourceOptions
from convoy.store.cache import Cache
from convoy.store.crypto import InstallationKey
from convoy.store.renders import Renders


@dataclass(frozen=True, slots=True)
class Rendering:
    """A renderer with nothing remembered yet."""

    renderer: Renderer
    home: KubeClient
    scope: Discovery

    async def render(self, source: Mapping[str, Any], content: Mapping[str, Any]) -> Render:
        """Render a Release of this source and content."""
        release = Release.read(
            {
                "metadata": {"name": "bench", "namespace": "bench", "uid": "bench"},
                "spec": {"clusterRef": {"name": "target"}, "source": source, "content": content},
            }
        )
        return await self.renderer.render(release, home=self.home, scope=self.scope)


@asynccontextmanager
async def rendering(bench: Bench, name: str) -> AsyncIterator[Rendering]:
    """Open a renderer with an empty working folder; the target's discovery is read already, as in a worker."""
    key, folder = InstallationKey(b"k" * 32), bench.folder / name
    options = RenderOptions(
        cache=folder / "sources",
        kustomize=str(bench.stack.tool("kustomize", note)),
        helm=str(bench.stack.tool("helm", note)),
        source=SourceOptions(allow_private_addresses=True),
    )
    renders = Renders(None, Cache(folder / "renders"), key=key)
    async with await connect_kubeconfig(bench.stack.kubeconfig) as home:
        scope = Discovery(home)
        await scope.refresh()
        yield Rendering(Renderer(renders=renders, key=key, options=options), home, scope)


async def timed_program(*argv: str | Path) -> float:
    """Run a program, read its output, and return the seconds."""
    began = perf_counter()
    child = await asyncio.create_subprocess_exec(*argv, stdout=asyncio.subprocess.PIPE)
    await child.communicate()
    if child.returncode != 0:
        raise RuntimeError(f"{argv[0]} ended with code {child.returncode}")
    return perf_counter() - began


def go_module(name: str) -> Path:
    """Return the folder of a Go module, downloaded at the first call."""
    go = shutil.which("go")
    if go is None:
        raise RuntimeError(f"there is no go in PATH, which downloads {name}")
    done = subprocess.run([go, "mod", "download", "-json", name], cwd="/", capture_output=True, text=True)
    found = json.loads(done.stdout or "{}")
    if not found.get("Dir"):
        raise RuntimeError(f"{name} cannot be downloaded: {found.get('Error') or done.stderr}")
    return Path(found["Dir"])
