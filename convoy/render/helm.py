"""Content `helm`: `helm template` with nothing around it that it could reach (D5).

The chart learns the target's version and API list and nothing else about it: `lookup` finds nothing, since the answer
would make a render that no digest of its inputs describes. It has no plugins, no repositories, no names to resolve,
and its dependencies must lie in its `charts/` folder.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from convoy.api.content import HelmContent
from convoy.api.errors import Unsupported
from convoy.render.folder import content_folder
from convoy.render.helm_scan import scan_chart
from convoy.render.helm_values import Values
from convoy.render.objects import Capabilities, File
from convoy.render.program import LIMITS, bare_environment, find_program, without_aliases, without_folders
from convoy.sources.process import ChildFailed, run

OUTPUT: Final = "helm template"
"""Stands in messages where other content has the name of a file."""
_NAME: Final = re.compile(r"[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?")
_FOLDERS: Final = ("CACHE", "CONFIG", "DATA")


@dataclass(frozen=True, slots=True)
class HelmInputs:
    """What goes into a chart besides its files."""

    values: Values
    capabilities: Capabilities


async def helm_files(
    root: Path, path: str, content: HelmContent, inputs: HelmInputs, *, name: str, helm: str, home: Path
) -> tuple[list[File], tuple[str, ...]]:
    """Render the chart in `root/path` and return its output and warnings.

    Args:
        root: the source.
        path: `spec.content.path`.
        content: `spec.content.helm`.
        inputs: values and capabilities.
        name: the Release's name, for `releaseName`.
        helm: the program; a name without a slash is looked for in CONVOY_TOOLS and PATH.
        home: an empty folder that it takes for its user's.

    Raises:
        Unsupported: the chart is refused, or does not render.
        DeployFailed: this installation has no helm.
    """
    chart = await asyncio.to_thread(content_folder, root, path)
    alone = await asyncio.to_thread(scan_chart, root, chart)
    name = content.release_name or name
    for field, text in (("releaseName", name), ("namespace", content.namespace)):
        if not _NAME.fullmatch(text) or len(text) > 63:
            raise Unsupported(f"spec.content.helm.{field}: {text!r} is no name of Kubernetes")
    argv = [find_program(helm, needed_by="spec.content.helm"), "template"]
    argv += [f"--namespace={content.namespace}", f"--kube-version={inputs.capabilities.kube_version}"]
    argv += [f"--api-versions={','.join(inputs.capabilities.api_versions)}"]
    argv += ["--include-crds"] if content.include_crds else []
    argv += [] if alone else ["--skip-schema-validation"]
    for file in await asyncio.to_thread(_write, home, inputs.values.files):
        argv += [f"--values={file}"]
    argv += ["--", name, str(chart)]
    try:
        done = await run(argv, cwd=home, env=_environment(home), limits=LIMITS)
    except ChildFailed as error:
        raise Unsupported(f"spec.content.helm: {error}") from None
    if done.code != 0:
        said = without_aliases(without_folders(done.errors, (chart, root, home)))
        raise Unsupported(f"helm template {path}: {_short(inputs.values.scrub(said))}")
    warnings = (
        () if alone else ("the chart's values schema refers to files outside itself and is not checked",)
    )
    return [File(OUTPUT, done.output)], warnings


def _write(home: Path, files: tuple[bytes, ...]) -> list[Path]:
    paths = []
    for number, data in enumerate(files):
        path = home / f"values-{number}.yaml"
        path.touch(mode=0o600)
        path.write_bytes(data)
        paths.append(path)
    return paths


def _environment(home: Path) -> Mapping[str, str]:
    env = bare_environment(home) | {f"HELM_{name}_HOME": str(home / name.lower()) for name in _FOLDERS}
    return env | {"HELM_PLUGINS": str(home / "plugins"), "KUBECONFIG": str(home / "kubeconfig")}


def _short(text: str) -> str:
    lines = (line.strip() for line in text.splitlines())
    told = [line.removeprefix("Error: ") for line in lines if line and not line.startswith("Use --debug")]
    return " ".join(told)[:1000] or "it failed without a word"
