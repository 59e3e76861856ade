"""A chart that many people run, cert-manager's: convoy reads what `helm template` writes, and changes no object of it.

The bytes are compared before the normaliser, the objects after it.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from convoy.api.content import HelmContent
from convoy.kube.client import KubeClient
from convoy.kube.discovery import Discovery
from convoy.render.drafts import read_objects
from convoy.render.helm import HelmInputs, helm_files
from convoy.render.helm_values import read_values
from convoy.render.objects import File
from deploy.stack.local import Stack
from tests.go_modules import go_module
from tests.kube.render.conftest import Rendering

MODULE = "github.com/cert-manager/cert-manager@v1.21.2"
VALUES = {"crds": {"enabled": True}, "startupapicheck": {"enabled": False}, "replicaCount": 2}


@pytest.fixture(scope="module")
def chart_folder() -> Path:
    return go_module(MODULE) / "deploy" / "charts" / "cert-manager"


def files_of(folder: Path) -> dict[str, str]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text() for path in paths}


def helm_template(helm: Path, folder: Path, values: Path) -> bytes:
    """Return what the plain program writes, which knows nothing of a cluster."""
    values.write_text(json.dumps(VALUES))
    argv: list[str | Path] = [helm, "template", "cm", folder, "--namespace", "cert-manager"]
    argv += ["--include-crds", "--values", values]
    return subprocess.run(argv, check=True, capture_output=True).stdout


async def test_its_objects_are_those_of_helm_template(
    chart_folder: Path, rendering: Rendering, stack: Stack, tmp_path: Path
) -> None:
    plain = helm_template(stack.tool("helm"), chart_folder, tmp_path / "values.json")
    expected = [draft.manifest for draft in read_objects([File("plain.yaml", plain)])]

    render = await rendering(
        files_of(chart_folder), releaseName="cm", namespace="cert-manager", values=VALUES
    )

    assert [item.manifest for item in render.objects] == expected
    assert len(expected) > 30
    assert render.warnings == ()


async def test_what_is_read_is_byte_for_byte_the_output_of_helm_template(
    chart_folder: Path, home: KubeClient, stack: Stack, tmp_path: Path
) -> None:
    plain = helm_template(stack.tool("helm"), chart_folder, tmp_path / "values.json")
    content = HelmContent(release_name="cm", namespace="cert-manager", values=VALUES)
    inputs = HelmInputs(
        await read_values(content, "default", home=home), await Discovery(home).capabilities()
    )
    (tmp_path / "home").mkdir()

    [file], warnings = await helm_files(
        chart_folder,
        ".",
        content,
        inputs,
        name="shop",
        helm=str(stack.tool("helm")),
        home=tmp_path / "home",
    )

    assert file.data == plain
    assert warnings == ()
