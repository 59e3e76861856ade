"""`render` makes the objects of a Release without a cluster."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.unit.cli.running import run
from tests.unit.cli.test_validate import EXAMPLES, HEAD, inline, written
from tests.unit.render.rig import needs_program

SHOP = [
    "Namespace shop",
    "ConfigMap shop/settings",
    "Secret shop/database",
    "Job.batch shop/migrate-1",
    "Deployment.apps shop/web",
    "Service shop/web",
]


def test_an_inline_release() -> None:
    assert run("render", "-f", EXAMPLES / "shop-inline", "-o", "name").splitlines() == SHOP


def test_a_checkout_with_a_kustomization() -> None:
    needs_program("kustomize")
    words = ("--source", EXAMPLES / "shop-git" / "repository", "-o", "name")
    assert run("render", "-f", EXAMPLES / "shop-git", *words).splitlines() == SHOP


def test_yaml_is_what_kubectl_apply_takes() -> None:
    text = run("render", "-f", EXAMPLES / "shop-inline")
    documents = list(yaml.safe_load_all(text))
    assert [each["kind"] for each in documents] == [name.split()[0].split(".")[0] for name in SHOP]
    assert "# wave 1, 40-web.yaml, document 1, line 1" in text.splitlines()
    items = json.loads(run("render", "-f", EXAMPLES / "shop-inline", "-o", "json"))["items"]
    assert items == documents


def test_a_namespace_is_settled_for_the_kinds_of_kubernetes_only(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        inline(
            a="apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
            b="apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\n"
            "metadata: {name: b, namespace: gone}\n",
            c="apiVersion: example.org/v1\nkind: Widget\nmetadata: {name: c}\n",
        ),
    )
    assert run("render", "-f", path, "-o", "name").splitlines() == [
        "ConfigMap default/a",
        "ClusterRole.rbac.authorization.k8s.io b",
        "Widget.example.org c",
    ]


def test_a_config_map_is_taken_from_the_files(tmp_path: Path) -> None:
    release = written(tmp_path, HEAD + "  source: {configMap: {name: manifests}}\n")
    told = run("render", "-f", release, code=1)
    assert "ConfigMap team/manifests" in told
    config_map = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "manifests", "namespace": "team"},
        "data": {"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"},
    }
    other = written(tmp_path, yaml.safe_dump(config_map), "manifests.yaml")
    assert run("render", "-f", release, "-f", other, "-o", "name") == "ConfigMap default/a\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("kind: ConfigMap\n", "the files hold no Release"),
        (HEAD + "  source: {}\n", "exactly one of"),
        (HEAD + "  source: [\n", "no valid YAML"),
        (inline(a="a: b: c\n"), "a.yaml"),
    ],
)
def test_what_cannot_be_rendered_is_one_line(tmp_path: Path, text: str, told: str) -> None:
    said = run("render", "-f", written(tmp_path, text), code=1)
    assert said.startswith("error: ")
    assert told in said
    assert said.count("\n") == 1
