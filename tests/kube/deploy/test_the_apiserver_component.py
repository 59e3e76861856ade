"""deploy/kubernetes/apiserver on a real API server: accepted as it is, and with no rights but those it needs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from convoy.api.objects import Manifest
from convoy.kube.client import KubeClient
from deploy.stack.local import Stack
from tests.kube.deploy.test_the_kustomize_base import DEPLOY, apply, build, home

__all__ = ["home"]


@pytest.fixture
def component(stack: Stack, tmp_path: Path) -> list[Manifest]:
    """What the component adds to the base, in an overlay as the pages show it."""
    for folder in ("crds", "kubernetes"):
        shutil.copytree(DEPLOY / folder, tmp_path / folder)
    overlay = {
        "namespace": "convoy-system",
        "resources": ["kubernetes/base"],
        "components": ["kubernetes/apiserver"],
    }
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(overlay), encoding="utf-8")
    base = {(each["kind"], each["metadata"]["name"]) for each in build(stack)}
    return [each for each in build(stack, tmp_path) if (each["kind"], each["metadata"]["name"]) not in base]


async def test_the_api_server_accepts_every_object(
    home: KubeClient, component: list[Manifest], namespace: str
) -> None:
    assert {each["kind"] for each in component} == {
        "APIService", "ClusterRole", "ClusterRoleBinding", "Deployment", "PodDisruptionBudget", "Service",
    }  # fmt: skip
    for manifest in component:
        if "namespace" in manifest["metadata"]:
            manifest["metadata"]["namespace"] = namespace
        await apply(home, manifest, dry_run=True)


def test_it_reads_one_config_map_and_asks_who_may(component: list[Manifest]) -> None:
    role = next(each for each in component if each["kind"] == "ClusterRole")
    assert role["rules"] == [
        {"apiGroups": ["authorization.k8s.io"], "resources": ["subjectaccessreviews"], "verbs": ["create"]},
        {
            "apiGroups": [""],
            "resources": ["configmaps"],
            "resourceNames": ["extension-apiserver-authentication"],
            "verbs": ["get", "list", "watch"],
        },
    ]
