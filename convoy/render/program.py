"""Programs that render: found on this machine, run with nothing around them that they could reach (D5)."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from convoy.api.errors import DeployFailed
from convoy.sources.process import ProcessLimits

LIMITS: Final = ProcessLimits(seconds=60.0, output_bytes=64 * 1024 * 1024)

_ALIAS: Final = re.compile(r"(?<=unknown anchor ').*?(?=' referenced)", re.DOTALL)
_NOWHERE: Final = "http://127.0.0.1:9"


def find_program(name: str, *, needed_by: str) -> str:
    """Find a program in CONVOY_TOOLS and PATH now: the child's own PATH is empty.

    Raises:
        DeployFailed: this installation has no such program.
    """
    tools = os.environ.get("CONVOY_TOOLS")
    path = os.pathsep.join(filter(None, (tools, os.environ.get("PATH", os.defpath))))
    found = shutil.which(name, path=path)
    if found is None:
        raise DeployFailed(f"this worker has no program {name}, which {needed_by} needs")
    return found


def bare_environment(home: Path) -> dict[str, str]:
    """Return an environment without programs, credentials and network: HTTP goes to a proxy that does not exist."""
    env = {"HOME": str(home), "PATH": str(home), "LC_ALL": "C"}
    # A render lives for a second: collecting garbage less often saves a quarter of kustomize's CPU, for 35 MB more.
    env |= {"GOGC": "400", "GOMEMLIMIT": "768MiB"}
    return env | dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), _NOWHERE)


def without_folders(text: str, folders: Iterable[Path]) -> str:
    """Return a program's message without the places of folders on this machine."""
    for folder in folders:
        text = (
            text.replace(f"{folder.resolve()}/", "")
            .replace(str(folder.resolve()), ".")
            .replace(str(folder), ".")
        )
    return text


def without_aliases(text: str) -> str:
    """Return a program's message without the name of an alias that it does not know.

    An unquoted password that begins with an asterisk is one.
    """
    return _ALIAS.sub("…", text)
