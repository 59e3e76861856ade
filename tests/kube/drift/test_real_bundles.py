"""No false positive and no false negative in what people really install.

Every object of a bundle is read as convoy reads it and applied, and is in sync; somebody changes one field and exactly
that one shows; the next apply heals it.
"""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from convoy.api.objects import Manifest
from convoy.api.rendered import RenderedObject
from convoy.kube.errors import ApiError, NotFound
from convoy.render.drafts import read_objects
from convoy.render.normalise import normalise
from convoy.render.objects import File
from deploy.stack.local import Stack
from tests.go_modules import go_module
from tests.kube.drift.rig import Rig, pointers
from tests.waiting import eventually

PROMETHEUS_OPERATOR = "github.com/prometheus-operator/prometheus-operator@v0.85.0"
CERT_MANAGER = "github.com/cert-manager/cert-manager@v1.21.2"

IMAGE = ("/spec/template/spec/containers/0/image", "registry.example.org/other:1")
FIELDS: dict[str, tuple[str, Any]] = {
    "ClusterRole": ("/rules/0/verbs/0", "impersonate"),
    "ClusterRoleBinding": ("/subjects/0/name", "somebody"),
    "CustomResourceDefinition": ("/spec/versions/0/schema/openAPIV3Schema/description", "Something else."),
    "Deployment": IMAGE,
    "Job": ("/spec/backoffLimit", 17),
    "MutatingWebhookConfiguration": ("/webhooks/0/timeoutSeconds", 3),
    "Role": ("/rules/0/verbs/0", "impersonate"),
    "RoleBinding": ("/subjects/0/name", "somebody"),
    "Service": ("/spec/selector/app.kubernetes.io~1name", "somebody"),
    "ServiceAccount": ("/metadata/labels/app.kubernetes.io~1name", "somebody"),
    "ValidatingWebhookConfiguration": ("/webhooks/0/timeoutSeconds", 3),
}
"""The field that somebody changes in an object of this kind."""


def prometheus_operator(stack: Stack, rig: Rig) -> str:
    text = (go_module(PROMETHEUS_OPERATOR) / "bundle.yaml").read_text()
    # A name that no other Prometheus operator of this cluster has; those of CRDs are given.
    return text.replace("name: prometheus-operator\n", f"name: operator-{rig.id}\n").replace(
        "namespace: default", f"namespace: {rig.namespace}"
    )


def cert_manager(stack: Stack, rig: Rig) -> str:
    chart = go_module(CERT_MANAGER) / "deploy" / "charts" / "cert-manager"
    values = {"crds.enabled": "true", "global.leaderElection.namespace": rig.namespace}
    options = [part for name, value in values.items() for part in ("--set", f"{name}={value}")]
    command: list[str | Path] = [
        stack.tool("helm"),
        "template",
        f"cm-{rig.id}",
        chart,
        "--namespace",
        rig.namespace,
        *options,
    ]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.fixture
async def objects(
    rig: Rig, stack: Stack, request: pytest.FixtureRequest
) -> AsyncIterator[tuple[RenderedObject, ...]]:
    """All objects of a bundle, on the cluster."""
    text = await asyncio.to_thread(request.param, stack, rig)
    drafts = read_objects([File("bundle.yaml", text.encode())])
    scopes = {draft.group_kind: await rig.discovery.namespaced(*draft.group_kind) for draft in drafts}
    found = normalise(drafts, scopes)
    for one in found:
        await until_absent(rig, one.manifest)
        await rig.apply(one.manifest)
    yield found
    for one in reversed(found):
        with suppress(NotFound):
            await rig.delete(one.manifest)


@pytest.mark.parametrize(
    ("objects", "count"),
    [(prometheus_operator, 15), (cert_manager, 50)],
    indirect=["objects"],
    ids=["prometheus-operator", "cert-manager"],
)
async def test_only_what_somebody_changed_is_drift(
    rig: Rig, objects: tuple[RenderedObject, ...], count: int
) -> None:
    assert len(objects) == count
    found = {str(one.key): await changes_shown(rig, one.manifest) for one in objects}
    assert found == {str(one.key): ([], [FIELDS[one.key.kind][0]], []) for one in objects}


async def changes_shown(rig: Rig, manifest: Manifest) -> tuple[list[str], list[str], list[str]]:
    """Return what the compare shows of an applied object: as it is, after a change, and after the next apply."""
    untouched = pointers(await rig.compare(manifest))
    pointer, value = FIELDS[manifest["kind"]]
    change = [{"op": "replace", "path": pointer, "value": value}]
    await rig.edit(manifest, change, kind="json", manager="somebody")
    changed = await rig.compare(manifest)
    assert {change.owner.manager for change in changed.changes if change.owner} == {"somebody"}
    await rig.apply(manifest)
    return untouched, pointers(changed), pointers(await rig.compare(manifest))


async def until_absent(rig: Rig, manifest: Manifest) -> None:
    """Another test may have left the same CRD behind, on its way out."""

    async def absent() -> bool:
        try:
            return "deletionTimestamp" not in (await rig.get(manifest))["metadata"]
        except ApiError:
            return True

    await eventually(absent)
