"""A chart that many people run, cert-manager's: convoy's render is what `helm template` gives, object for object."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from convoy.render.drafts import read_objects
from convoy.render.objects import File
from deploy.stack.local import Stack
from tests.kube.render.conftest import Rendering

MODULE = "github.com/cert-manager/cert-manager@v1.21.2"
VALUES = {"crds": {"enabled": True}, "startupapicheck": {"enabled": False}, "replicaCount": 2}


@pytest.fixture(scope="module")
def chart_folder(say: Callable[[str], None]) -> Path:
    go = shutil.which("go")
    if go is None:
        pytest.skip("no go in PATH: the chart comes as a Go module")
    say(f"downloading {MODULE}")
    done = subprocess.run(
        [go, "mod", "download", "-json", MODULE], cwd="/", capture_output=True, text=True, timeout=600
    )
    found = json.loads(done.stdout or "{}")
    if not found.get("Dir"):
        pytest.skip(f"{MODULE} cannot be downloaded: {found.get('Error') or done.stderr}")
    return Path(found["Dir"]) / "deploy" / "charts" / "cert-manager"


def files_of(folder: Path) -> dict[str, str]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text() for path in paths}


def helm_template(helm: Path, folder: Path, values: Path) -> bytes:
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
