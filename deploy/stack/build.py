"""Build a tool from its pinned Go module, telling how far it is: the biggest takes ten minutes."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

from deploy.stack.pins import Tool

_TELL_EVERY = 10.0


class BuildFailed(Exception):
    """The tool cannot be built; the message ends with what Go said last."""


def build(tool: Tool, into: Path, say: Callable[[str], None]) -> None:
    """Write the binary to `into`. Raises BuildFailed; `into` exists only after success."""
    go = shutil.which("go")
    if go is None:
        raise BuildFailed("Go is not installed")
    # The pins must decide alone: no flags of the machine, no workspace around the checkout, no C compiler.
    env = {**os.environ, "GOFLAGS": "-mod=readonly", "GOWORK": "off", "CGO_ENABLED": "0"}
    say(f"{tool.name} {tool.version}: building with Go; resolving its modules first")
    began = time.monotonic()
    total = _packages(go, tool, env)
    temporary = into.with_name(f"{into.name}.build")
    command: list[str | Path] = [
        go,
        "build",
        "-v",
        "-trimpath",
        "-ldflags",
        f"-s -w {_flags(tool)}".strip(),
        "-o",
        temporary,
        tool.package,
    ]
    said: deque[str] = deque(maxlen=20)
    told, compiled = began, 0
    try:
        with subprocess.Popen(
            command,
            cwd=tool.folder,
            env=env,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            for line in process.stderr or ():
                said.append(line.rstrip())
                compiled += 1
                if time.monotonic() - told > _TELL_EVERY:
                    told = time.monotonic()
                    say(f"  {compiled} of at most {total} packages, {told - began:.0f} s")
        if process.returncode != 0:
            raise BuildFailed("go build failed:\n" + "\n".join(said))
        temporary.replace(into)
    finally:
        temporary.unlink(missing_ok=True)
    say(f"{tool.name} {tool.version}: built in {time.monotonic() - began:.0f} s")


def _packages(go: str, tool: Tool, env: dict[str, str]) -> int:
    """Return how many packages the build has; downloads the modules that are missing."""
    answer = subprocess.run(
        [go, "list", "-deps", tool.package],
        cwd=tool.folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    if answer.returncode != 0:
        raise BuildFailed(f"its modules cannot be resolved:\n{answer.stderr.strip()}")
    return len(answer.stdout.splitlines())


def _flags(tool: Tool) -> str:
    major, minor, *_ = tool.version.split(".")
    return tool.fill(tool.ldflags).replace("{major}", major).replace("{minor}", minor)
