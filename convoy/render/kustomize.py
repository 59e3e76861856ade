"""Content `kustomize`: the kustomize program, with nothing around it that it could reach (D5).

`convoy.render.kustomize_scan` refuses what is remote or runs code, by name. Should something slip through:
there is no git on this PATH, no plugin is enabled, and HTTP goes to a proxy that does not exist.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from pathlib import Path
from typing import Final

from convoy.api.errors import DeployFailed, Unsupported
from convoy.render.folder import content_folder
from convoy.render.kustomize_scan import NAMES, scan
from convoy.render.objects import File
from convoy.sources.process import ChildFailed, ProcessLimits, run

_LIMITS: Final = ProcessLimits(seconds=60.0, output_bytes=64 * 1024 * 1024)
_QUOTED_INPUT: Final = re.compile(r"\[[^\]]*[\n:{][^\]]*\]|\{[^}]*[\n:\"][^}]*\}|\"[^\"]*\\n[^\"]*\"")
_NOWHERE: Final = "http://127.0.0.1:9"


async def kustomize_files(root: Path, path: str, *, kustomize: str, home: Path) -> list[File]:
    """Build the kustomization in `root/path`.

    Args:
        root: the source.
        path: `spec.content.path`.
        kustomize: the program; a name without a slash is looked for in CONVOY_TOOLS and PATH.
        home: an empty folder that it takes for its user's.

    Raises:
        Unsupported: the kustomization is refused, or does not build.
        DeployFailed: this installation has no kustomize.
    """
    folder = await asyncio.to_thread(_checked, root, path)
    env = {"HOME": str(home), "PATH": str(home), "LC_ALL": "C", "GOMEMLIMIT": "768MiB"}
    env |= dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), _NOWHERE)
    program = _program(kustomize)
    argv = [program, "build", "--load-restrictor", "LoadRestrictionsRootOnly", str(folder)]
    try:
        done = await run(argv, cwd=folder, env=env, limits=_LIMITS)
    except ChildFailed as error:
        raise Unsupported(f"spec.content.kustomize: {error}") from None
    if done.code != 0:
        raise Unsupported(f"kustomize build {path}: {_said(done.errors, root)}")
    return [File(f"{path.rstrip('/')}/{NAMES[0]}".removeprefix("./"), done.output)]


def _program(kustomize: str) -> str:
    """Find the program now: the child's own PATH is empty."""
    tools = os.environ.get("CONVOY_TOOLS")
    path = os.pathsep.join(filter(None, (tools, os.environ.get("PATH", os.defpath))))
    found = shutil.which(kustomize, path=path)
    if found is None:
        raise DeployFailed(f"this worker has no program {kustomize}, which spec.content.kustomize needs")
    return found


def _checked(root: Path, path: str) -> Path:
    folder = content_folder(root, path).resolve()
    scan(root, folder)
    return folder


def _said(errors: str, root: Path) -> str:
    """Return kustomize's message without the place of the folder and without the input that it quotes."""
    text = errors.strip().removeprefix("Error: ").replace(f"{root.resolve()}/", "").replace(str(root), ".")
    return " ".join(_QUOTED_INPUT.sub("[…]", text).split())[:1000] or "it failed without a word"
