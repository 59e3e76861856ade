"""Mutations: targets by group, kind, globs and labels; JSON Patch, merge patch and image, in their order."""

from __future__ import annotations

from typing import Any

import pytest

from convoy.api.errors import Unsupported
from tests.unit.render.rig import CONFIG_MAP, Rig

DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, labels: {app: web, tier: front}}
spec:
  replicas: 1
  template:
    spec:
      initContainers: [{name: i, image: "busybox"}]
      containers: [{name: a, image: "host:5000/team/nginx:1.25"}, {name: b, image: "nginx@sha256:aa"}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: web, labels: {app: web}}
data: {k: v}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
"""
MARK = {"metadata": {"annotations": {"marked": "yes"}}}


async def marked(rig: Rig, **target: str) -> list[str]:
    render = await rig.mutated(DEPLOYMENT, {"target": target, "merge": MARK})
    return [item.key.kind for item in render.objects if "annotations" in item.manifest["metadata"]]


@pytest.mark.parametrize(
    ("target", "kinds"),
    [
        ({}, ["Deployment", "ConfigMap", "Namespace"]),
        ({"kind": "Deployment"}, ["Deployment"]),
        ({"group": ""}, ["ConfigMap", "Namespace"]),
        ({"group": "apps"}, ["Deployment"]),
        ({"name": "w?b"}, ["Deployment", "ConfigMap"]),
        ({"name": "we"}, []),
        ({"namespace": "sho*"}, ["Deployment"]),
        ({"namespace": "default"}, ["ConfigMap"]),
        ({"namespace": "*"}, ["Deployment", "ConfigMap"]),
        ({"labelSelector": "app=web"}, ["Deployment", "ConfigMap"]),
        ({"labelSelector": "app==web, tier!=front"}, ["ConfigMap"]),
        ({"labelSelector": "tier in (front,back)"}, ["Deployment"]),
        ({"labelSelector": "tier notin (front)"}, ["ConfigMap", "Namespace"]),
        ({"labelSelector": "!app"}, ["Namespace"]),
        ({"labelSelector": "app,tier"}, ["Deployment"]),
        ({"kind": "ConfigMap", "labelSelector": "tier"}, []),
    ],
)
async def test_the_target(rig: Rig, target: dict[str, str], kinds: list[str]) -> None:
    assert await marked(rig, **target) == kinds


async def test_a_selector_that_is_none_is_named(rig: Rig) -> None:
    with pytest.raises(Unsupported, match=r"mutations\[0\]\.target\.labelSelector: 'app = \(' is no"):
        await marked(rig, labelSelector="app = (")


async def test_each_sees_what_the_one_before_it_left(rig: Rig) -> None:
    render = await rig.mutated(
        CONFIG_MAP % "a",
        {"merge": {"metadata": {"labels": {"step": "one"}}}},
        {
            "target": {"labelSelector": "step=one"},
            "patch": [{"op": "add", "path": "/data", "value": {"k": "2"}}],
        },
        {"target": {"labelSelector": "step=one"}, "merge": {"data": {"k": "3"}}},
    )

    assert render.objects[0].manifest["data"] == {"k": "3"}


async def test_one_that_matches_nothing_is_a_warning(rig: Rig) -> None:
    mutations: tuple[dict[str, Any], ...] = (
        {"target": {"name": "none"}, "merge": MARK},
        {"merge": MARK},
        {"image": {"name": "nginx", "newTag": "1"}},
    )
    warnings = (
        "mutations[0] matches nothing in the render",
        "mutations[2] matches nothing in the render",
    )

    assert (await rig.mutated(CONFIG_MAP % "a", *mutations)).warnings == warnings
    assert (await rig.mutated(CONFIG_MAP % "a", *mutations)).warnings == warnings, (
        "also of a remembered render"
    )


async def test_another_mutation_is_another_render(rig: Rig) -> None:
    plain = await rig.mutated(CONFIG_MAP % "a")
    changed = await rig.mutated(CONFIG_MAP % "a", {"merge": MARK})

    assert plain.ref != changed.ref
    assert (await rig.mutated(CONFIG_MAP % "a")).ref == plain.ref


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        (
            {"name": "busybox", "newTag": "1.36"},
            ["busybox:1.36", "host:5000/team/nginx:1.25", "nginx@sha256:aa"],
        ),
        ({"name": "nginx", "newTag": "2"}, ["busybox", "host:5000/team/nginx:1.25", "nginx:2"]),
        (
            {"name": "nginx", "newName": "mirror/nginx"},
            ["busybox", "host:5000/team/nginx:1.25", "mirror/nginx@sha256:aa"],
        ),
        (
            {"name": "host:5000/team/nginx", "digest": "sha256:bb", "newName": "", "newTag": ""},
            ["busybox", "host:5000/team/nginx@sha256:bb", "nginx@sha256:aa"],
        ),
        (
            {"name": "host:5000/team/nginx", "digest": "sha256:bb", "newTag": "2"},
            ["busybox", "host:5000/team/nginx:2@sha256:bb", "nginx@sha256:aa"],
        ),
    ],
)
async def test_an_image(rig: Rig, image: dict[str, str], expected: list[str]) -> None:
    render = await rig.mutated(DEPLOYMENT, {"image": image})

    spec = render.objects[0].manifest["spec"]["template"]["spec"]
    assert [each["image"] for each in spec["initContainers"] + spec["containers"]] == expected
