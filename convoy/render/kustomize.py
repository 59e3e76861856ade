"""Content `kustomize`: the kustomize program, with nothing around it that it could reach (D5).

`convoy.render.kustomize_scan` refuses what is remote or runs code, by name. Should something slip through:
there is no git on this PATH, no plugin is enabled, and HTTP goes to a proxy that does not exist.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Final

from convoy.api.errors import Unsupported
from convoy.render.folder import content_folder
from convoy.render.kustomize_scan import NAMES, scan
from convoy.render.objects import File
from convoy.render.program import LIMITS, bare_environment, find_program, without_aliases, without_folders
from convoy.sources.process import ChildFailed, run

_QUOTED_INPUT: Final = re.compile(
    r"`.*(?:`|$)"  # the configuration of a transformer, with the patch that it could not read
    r"|\[[^\]]*[\n:{].*(?:\]|$)|\{.*[\n:\"].*(?:\}|$)"  # an object or a list of them; a bracket in it ends nothing
    r"|\"[^\"]*\\n[^\"]*\""
    r"|(?<=literal sources ).*(?=: invalid literal source )"
    r"|(?<=literal source ).*(?=, expected|$)"
    r"|(?<=node contents:).*"  # the value at the path of a transformer that expects something else there
    r"|\"[^\n]*\"(?= is not a valid key name)",  # a line of an env file
    re.DOTALL,
)
"""Where kustomize repeats its input, which may be a Secret's. Rather a word too many is left out than one too few."""


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
    program = find_program(kustomize, needed_by="spec.content.kustomize")
    argv = [program, "build", "--load-restrictor", "LoadRestrictionsRootOnly", str(folder)]
    try:
        done = await run(argv, cwd=folder, env=bare_environment(home), limits=LIMITS)
    except ChildFailed as error:
        raise Unsupported(f"spec.content.kustomize: {error}") from None
    if done.code != 0:
        raise Unsupported(f"kustomize build {path}: {_said(done.errors, root)}")
    return [File(f"{path.rstrip('/')}/{NAMES[0]}".removeprefix("./"), done.output)]


def _checked(root: Path, path: str) -> Path:
    folder = content_folder(root, path).resolve()
    scan(root, folder)
    return folder


def _said(errors: str, root: Path) -> str:
    """Return kustomize's message without the place of the folder and without the input that it quotes."""
    text = without_aliases(without_folders(errors.strip().removeprefix("Error: "), [root]))
    return " ".join(_QUOTED_INPUT.sub("[…]", text).split())[:1000] or "it failed without a word"
