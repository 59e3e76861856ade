"""An installation whose processes and servers a test may kill: a stack of its own, workers and watchers apart."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from temporalio.client import Client

from convoy.kube.client import KubeClient
from convoy.kube.errors import ApiError
from deploy.stack import processes, state
from deploy.stack.local import Stack
from tests.e2e.harness.process import ConvoyProcess

API_SERVER = "kube-apiserver"


@dataclass(slots=True)
class Site:
    """What runs, and what to start more with."""

    stack: Stack
    folder: Path
    environment: dict[str, str]
    home: KubeClient
    client: Client
    started: list[ConvoyProcess] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    async def worker(self) -> ConvoyProcess:
        """Start a worker, and wait until it works."""
        return await self._start("worker")

    async def watcher(self) -> ConvoyProcess:
        """Start a watcher; it leads as soon as it gets the Lease."""
        return await self._start("watcher")

    async def close(self) -> None:
        """End whatever still runs; a watcher gives its Lease back, for the next test."""
        running = [process for process in self.started if process.exit_code is None]
        for process in running:
            process.thaw()
        await asyncio.gather(*(process.stop() for process in running))
        self.started.clear()

    def kill_api_server(self) -> list[str]:
        """Kill the API server as a crash would; return the command that starts it again."""
        found = state.read(self.folder / "stack")
        assert found is not None
        server = [server for server in found.servers if server.name == API_SERVER][-1]
        command = Path(f"/proc/{server.pid}/cmdline").read_text().rstrip("\0").split("\0")
        os.kill(server.pid, signal.SIGKILL)
        return command

    async def start_api_server(self, command: list[str]) -> None:
        """Start the API server again, and note it down so that it ends with the stack."""
        folder = self.folder / "stack"
        log = folder / "logs" / f"{API_SERVER}.log"
        server = processes.start(API_SERVER, command, log=log, cwd=folder)
        found = state.read(folder)
        assert found is not None
        state.write(folder, found.with_server(server))
        async with asyncio.timeout(120):
            while True:
                try:
                    if (await self.home.request("GET", "/readyz")).status == 200:
                        return
                except ApiError:
                    server.check()
                await asyncio.sleep(0.2)

    async def _start(self, command: str) -> ConvoyProcess:
        log = self.folder / f"{command}-{next(self._numbers)}.log"
        process = ConvoyProcess(self.environment, log, command=command)
        self.started.append(process)
        await process.start()
        return process
