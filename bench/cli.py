"""`cli`: what `kubectl-convoy` costs a person: CPU of `--help`, and a list of 1,000 Releases beside kubectl's.

CPU and not time, since it says the same on a busy machine. Bytecode is there, as `pipx install` leaves it. convoy's
own process is stopped meanwhile: it would reconcile the thousand Releases at the cost of both contenders.
"""

from __future__ import annotations

import asyncio
import compileall
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from bench.bare import call_of
from bench.generate import Files
from bench.harness import HOME, RELEASES, ROOT, Bench, median, namespace, note, release, report

NAME = "cli"
COUNT = 1000
ROUNDS = 9
IN_FLIGHT = 16
BINARY = Path(sys.executable).parent / "kubectl-convoy"
FILES: Files = {"app.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\n"}


async def run(bench: Bench) -> None:
    """Measure and print."""
    compileall.compile_dir(ROOT / "convoy", quiet=2)
    os.kill(bench.worker_pid, signal.SIGSTOP)
    try:
        await bench.api.apply(call_of(namespace(HOME)), manager="bench")
        await _each(lambda name: bench.api.apply(call_of(release(name, FILES)), manager="bench"))
        environment = os.environ | {"KUBECONFIG": str(bench.stack.kubeconfig)}
        help_cpu, convoy, kubectl = [], [], []
        for number in range(ROUNDS):
            help_cpu.append(_cpu([BINARY, "--help"], environment))
            convoy.append(_cpu([BINARY, "release", "list", "-n", HOME], environment))
            kubectl.append(_cpu([bench.kubectl, "get", "releases.convoy.kumodo.io", "-n", HOME], environment))
            note(
                f"round {number + 1} of {ROUNDS}: list {convoy[-1]:.2f} s, kubectl {kubectl[-1]:.2f} s of CPU"
            )
        await _each(lambda name: bench.api.delete(f"{RELEASES}/{name}"))
    finally:
        os.kill(bench.worker_pid, signal.SIGCONT)
    report(
        NAME,
        convoy=median(convoy),
        peer="kubectl get releases",
        peerValue=median(kubectl),
        unit="s of CPU",
        ratio=median(convoy) / median(kubectl),
        help=median(help_cpu),
        releases=COUNT,
    )


async def _each(call: Callable[[str], Awaitable[object]]) -> None:
    """Do something with each Release, some at a time."""
    free = asyncio.Semaphore(IN_FLIGHT)

    async def one(name: str) -> None:
        async with free:
            await call(name)

    await asyncio.gather(*(one(f"bench-cli-{number:04}") for number in range(COUNT)))


def _cpu(command: list[str | Path], environment: dict[str, str]) -> float:
    """Run a command and return the CPU seconds that it took, in user and system mode."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)
