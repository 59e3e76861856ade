"""D5: a chart reads nothing of this machine, reaches nothing on the network, and cannot fill memory or disk."""

from __future__ import annotations

import asyncio
import io
import os
import tarfile
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from convoy.api.content import HelmContent
from convoy.api.errors import Unsupported
from convoy.render import helm as helm_module
from convoy.render.helm import HelmInputs, helm_files
from convoy.render.helm_scan import scan_chart
from convoy.render.helm_values import Values
from convoy.render.objects import Capabilities
from convoy.sources.process import ProcessLimits
from tests.unit.render.charts import CHART, chart, data_of
from tests.unit.render.rig import Rig, needs_program


@pytest.fixture(autouse=True)
def helm_is_here() -> None:
    needs_program("helm")


def packed(**files: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
    return buffer.getvalue()


@pytest.mark.parametrize("target", ["../../outside.txt", "/etc/passwd", "../..", "nowhere"])
def test_a_symlink_out_of_the_source_is_refused_by_name(tmp_path: Path, target: str) -> None:
    source = tmp_path / "source"
    (source / "files").mkdir(parents=True)
    (tmp_path / "outside.txt").write_text("secret")
    (source / "Chart.yaml").write_text(CHART)
    (source / "files" / "x").symlink_to(target)

    with pytest.raises(Unsupported, match=r"files/x"):
        scan_chart(source, source)


async def test_the_environment_of_the_worker_is_not_there(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", "/nowhere")
    with pytest.raises(Unsupported, match='function "env" not defined'):
        await data_of(rig, '  v: {{ env "KUBECONFIG" }}\n')


async def test_a_password_that_is_an_alias_in_yaml_is_not_shown(rig: Rig) -> None:
    with pytest.raises(Unsupported, match="unknown anchor") as caught:
        await data_of(rig, "  password: *hunter2\n")

    assert "hunter2" not in caught.value.message


async def test_names_are_not_resolved(rig: Rig) -> None:
    assert await data_of(rig, '  v: {{ getHostByName "localhost" | quote }}\n') == {"v": ""}


@pytest.mark.parametrize("is_packed", [False, True])
async def test_a_schema_fetches_nothing(rig: Rig, is_packed: bool) -> None:
    asked: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(request.path)
        return web.json_response({})

    app = web.Application()
    app.router.add_get("/{tail:.*}", answer)
    server = TestServer(app)
    await server.start_server()
    try:
        schema = f'{{"properties": {{"a": {{"$r\\u0065f": "{server.make_url("/x")}"}}}}}}'
        source = rig.folder / "source"
        (source / "templates").mkdir(parents=True)
        (source / "charts").mkdir()
        for name, text in chart("  a: b\n").items():
            (source / name).write_text(text)
        if is_packed:
            sub = {"sub/Chart.yaml": CHART.replace("shop", "sub"), "sub/values.schema.json": schema}
            (source / "charts" / "sub-1.2.3.tgz").write_bytes(packed(**sub))
        else:
            (source / "values.schema.json").write_text(schema)
        inputs = HelmInputs(Values((b"a: 1\nsub: {a: 1}\n",)), Capabilities("v1.34.4", ()))
        home = rig.folder / "home"
        home.mkdir()
        _, warnings = await helm_files(source, ".", HelmContent(), inputs, name="a", helm="helm", home=home)
    finally:
        await server.close()

    assert asked == []
    assert warnings == ("the chart's values schema refers to files outside itself and is not checked",)


async def test_a_packed_chart_that_writes_out_to_too_much_is_refused(tmp_path: Path) -> None:
    (tmp_path / "charts").mkdir()
    (tmp_path / "Chart.yaml").write_text(CHART)
    (tmp_path / "charts" / "bomb.tgz").write_bytes(packed(**{"bomb/big": "0" * (120 * 1024 * 1024)}))

    with pytest.raises(Unsupported, match=r"charts/bomb\.tgz: it writes out to more than 104857600 bytes"):
        await asyncio.to_thread(scan_chart, tmp_path, tmp_path)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('  v: {{ repeat 100000000 "0123456789" | quote }}\n', "helm"),
        ("  v: {{ range until 100000000 }}x{{ end }}\n", "helm"),
    ],
)
async def test_a_template_without_end_is_ended(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, body: str, message: str
) -> None:
    monkeypatch.setattr(helm_module, "LIMITS", ProcessLimits(seconds=5, output_bytes=1024 * 1024))

    with pytest.raises(Unsupported, match=message):
        await data_of(rig, body)


async def test_nothing_is_left_behind(rig: Rig) -> None:
    await data_of(rig, "  v: {{ .Values.pw }}\n", values={"pw": "quince-left"})

    left = [Path(at) / name for at, _, names in os.walk(rig.folder) for name in names]
    assert not [path for path in left if b"quince" in path.read_bytes()]
    assert not [name for name in os.listdir(rig.folder / "sources") if name.startswith("home-")]
