"""Find a tool's binary: in CONVOY_TOOLS, the cache, PATH, by official download, by a build; first hit wins.

What was downloaded or built goes into the cache, in a folder a version. A lock beside it makes a second
process wait for the first one's build instead of repeating it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from deploy.stack.build import BuildFailed, build
from deploy.stack.download import DownloadFailed, download
from deploy.stack.pins import TOOLS, Tool
from deploy.stack.state import StackError

Say = Callable[[str], None]
_PROBE_WITHIN = 20.0


@dataclass(frozen=True, slots=True)
class Places:
    """Where to look before anything is downloaded or built."""

    folder: Path | None
    """`CONVOY_TOOLS`: binaries that somebody has chosen; taken as they are, whatever their version."""
    cache: Path
    path: str

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Places:
        """Read the places from the environment."""
        folder = environment.get("CONVOY_TOOLS")
        home = environment.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        return cls(
            folder=Path(folder) if folder else None,
            cache=Path(home) / "convoy" / "tools",
            path=environment.get("PATH", ""),
        )


def acquire(name: str, *, say: Say = print) -> Path:
    """Return the binary of a pinned tool. Raises StackError saying what was tried and what to do."""
    return find(TOOLS[name], Places.of(os.environ), say=say)


def find(tool: Tool, places: Places, *, say: Say) -> Path:
    """Return the tool's binary from the first place that has it, else download or build it into the cache."""
    if places.folder is not None and _executable(places.folder / tool.name):
        return (places.folder / tool.name).resolve()
    cached = places.cache / tool.name / tool.version / tool.name
    if _executable(cached):
        return cached
    installed = _on_path(tool, places.path)
    if installed is not None:
        return installed
    cached.parent.mkdir(parents=True, exist_ok=True)
    with _locked(cached.with_name("lock"), tool, say):
        if not _executable(cached):
            _make(tool, cached, say)
    return cached


def _make(tool: Tool, into: Path, say: Say) -> None:
    try:
        download(tool, into, say)
    except DownloadFailed as no_download:
        say(f"{tool.name} {tool.version}: no download ({no_download})")
        try:
            build(tool, into, say)
        except BuildFailed as no_build:
            raise StackError(
                f"{tool.name} {tool.version} is missing and cannot be had.\n"
                f"  download: {no_download}\n"
                f"  build: {no_build}\n"
                "Put the binary into a folder and set CONVOY_TOOLS to it, or put exactly this version into "
                "PATH, or install Go, or allow access to the download."
            ) from no_build


def _executable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _on_path(tool: Tool, path: str) -> Path | None:
    found = shutil.which(tool.name, path=path)
    if found is None:
        return None
    try:
        answer = subprocess.run(
            [found, *tool.probe],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PROBE_WITHIN,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return Path(found).resolve() if tool.tells_version(answer.stdout + answer.stderr) else None


@contextlib.contextmanager
def _locked(path: Path, tool: Tool, say: Say) -> Iterator[None]:
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"{tool.name} {tool.version}: waiting for another process that is making it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
