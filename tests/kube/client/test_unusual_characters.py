"""Every character arrives at the API server as it was written, although it reads apply bodies as YAML."""

from __future__ import annotations

import pytest

from convoy.kube.client import KubeClient
from convoy.kube.encode import apply_body
from convoy.kube.resources import CONFIG_MAPS

TEXTS = {
    "latin": "".join(map(chr, range(0x00, 0x180))),
    "each-c1-alone": " ".join(f"a{chr(code)}b" for code in range(0x7F, 0xA0)),
    "lines": "a\u0085b\u2028c\u2029d\r\ne\rf\n",
    "ends": "\ufeffstart \ufffe \uffff \ufffd \ufdd0 end\ufeff",
    "astral": "🎻 \U0001f941 \U0010ffff \U0001fffe 漢 é e\u0301",
    "yaml": "- a: &b *c !d %e @f `g # h | > ' \" \\ \\u0041 {x: [y]} ---\n...\n? z",
    "space": "  tab\there \n  next \r\n  nbsp\u00a0 ",
    "number": "0x1F 1e3 .inf 0o17 y no ~ null",
}


@pytest.mark.parametrize("dry_run", [True, False], ids=["dry-run", "apply"])
async def test_a_text_arrives_as_it_was_written(home: KubeClient, namespace: str, dry_run: bool) -> None:
    name = "characters"
    manifest = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace, "annotations": {"example.org/t": TEXTS["astral"]}},
        "data": TEXTS,
    }
    answer = await home.apply(apply_body(manifest), CONFIG_MAPS, namespace, name, dry_run=dry_run)
    assert answer["data"] == TEXTS
    assert answer["metadata"]["annotations"]["example.org/t"] == TEXTS["astral"]
    if not dry_run:
        assert (await home.get(CONFIG_MAPS, namespace, name))["data"] == TEXTS
