"""Each tool is pinned by a Go module of its own, with checksums."""

from __future__ import annotations

import re

import pytest

from deploy.stack.pins import TOOLS, Tool

EXPECTED = {
    "etcd": "3.6.16",
    "kube-apiserver": "1.34.4",
    "kube-controller-manager": "1.34.4",
    "kube-scheduler": "1.34.4",
    "kubectl": "1.34.4",
    "kwok": "0.8.0",
    "temporal": "1.5.1",
    "helm": "4.3.2",
    "kustomize": "5.7.1",
    "versitygw": "1.8.0",
}
each_tool = pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)


def test_the_versions_are_the_ones_that_were_tried_together() -> None:
    assert {tool.name: tool.version for tool in TOOLS.values()} == EXPECTED


@each_tool
def test_the_module_names_the_package_as_a_tool(tool: Tool) -> None:
    text = (tool.folder / "go.mod").read_text()

    assert re.search(rf"^(tool|\t)\s*{re.escape(tool.package)}$", text, re.MULTILINE)


@each_tool
def test_the_checksum_of_the_module_is_pinned(tool: Tool) -> None:
    lines = (tool.folder / "go.sum").read_text().splitlines()

    assert any(line.startswith(f"{tool.module} v{tool.version} h1:") for line in lines)


def test_every_staging_module_of_kubernetes_is_replaced_by_its_published_one() -> None:
    text = (TOOLS["kubectl"].folder / "go.mod").read_text()
    replaced = re.findall(r"(k8s\.io/[a-z-]+) => (k8s\.io/[a-z-]+) (\S+)", text)

    assert len(replaced) == 31
    assert all(old == new and version == "v0.34.4" for old, new, version in replaced)
    assert "v0.0.0 " not in re.sub(r"v0\.0\.0-\S+", "", text.partition("replace")[0])
