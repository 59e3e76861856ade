"""The checked-in CRDs are those of the models, and structural."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from convoy.api.crd import crds_yaml, generate_crds, write_crds

GOLDEN = Path(__file__).parents[3] / "deploy" / "crds"


def test_the_checked_in_files_are_those_of_the_models() -> None:
    found = {path.name: path.read_text(encoding="utf-8") for path in GOLDEN.glob("*.yaml")}
    assert found == crds_yaml(), "run: .venv/bin/python -m convoy.api.crd deploy/crds"


def test_the_files_hold_the_crds(tmp_path: Path) -> None:
    write_crds(tmp_path)
    read = [yaml.safe_load((tmp_path / name).read_text()) for name in crds_yaml()]
    assert read == generate_crds()


@pytest.mark.parametrize("crd", generate_crds(), ids=lambda crd: crd["metadata"]["name"])
def test_schemas_are_structural(crd: dict[str, Any]) -> None:
    (version,) = crd["spec"]["versions"]
    for node in _nodes(version["schema"]["openAPIV3Schema"]):
        assert not {"$ref", "anyOf", "oneOf", "allOf", "default", "title", "const"} & set(node)
        assert node.get("type") != "null"
        assert node.get("type") or node.get("x-kubernetes-preserve-unknown-fields")


@pytest.mark.parametrize("crd", generate_crds(), ids=lambda crd: crd["metadata"]["name"])
def test_status_is_a_subresource(crd: dict[str, Any]) -> None:
    assert crd["spec"]["scope"] == "Namespaced"
    assert [version["subresources"] for version in crd["spec"]["versions"]] == [{"status": {}}]


@pytest.mark.parametrize("crd", generate_crds(), ids=lambda crd: crd["metadata"]["name"])
def test_kubectl_explain_has_words_for_every_field(crd: dict[str, Any]) -> None:
    (version,) = crd["spec"]["versions"]
    schema = version["schema"]["openAPIV3Schema"]
    of_kubernetes = ("apiVersion", "kind", "metadata")
    ours = {name: node for name, node in schema["properties"].items() if name not in of_kubernetes}
    silent = [
        name
        for node in _nodes(schema | {"properties": ours})
        for name, below in node.get("properties", {}).items()
        if not below.get("description")
    ]
    assert silent == []


def _nodes(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    for below in schema.get("properties", {}).values():
        yield from _nodes(below)
    for key in ("items", "additionalProperties"):
        if key in schema:
            yield from _nodes(schema[key])
