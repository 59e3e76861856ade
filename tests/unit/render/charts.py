"""Small charts as files of an inline source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from convoy.render.objects import Render
from tests.unit.render.rig import Rig

CHART = "apiVersion: v2\nname: shop\nversion: 1.2.3\nappVersion: '9'\n"


def chart(*templates: str, **files: str) -> dict[str, str]:
    """Return a chart whose templates each make one ConfigMap's data; `files` have __ for / and a point for _."""
    texts = {
        f"templates/cm{number}.yaml": f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: cm{number}}}\ndata:\n{body}"
        for number, body in enumerate(templates)
    }
    return {"Chart.yaml": CHART, **texts, **files}


async def helm(rig: Rig, files: Mapping[str, str], **content: Any) -> Render:
    return await rig.inline(files, helm=content)


async def data_of(rig: Rig, body: str, **content: Any) -> dict[str, str]:
    """Render one ConfigMap and return its data."""
    data: dict[str, str] = (await helm(rig, chart(body), **content)).objects[0].manifest["data"]
    return data
