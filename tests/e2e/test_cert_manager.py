"""A chart that many people run, cert-manager's: packed, served, installed by a Release, and taken down again."""

from __future__ import annotations

import asyncio
import subprocess
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from convoy.api.objects import Manifest, ObjectKey
from convoy.kube.resources import CRDS, INVENTORIES
from deploy.stack.local import Stack
from tests.e2e.harness.convoy import Convoy, condition_of
from tests.e2e.tenant import Tenant
from tests.go_modules import go_module
from tests.kube.sources.site import Site
from workflows.contract import ReleaseId, Verdict

MODULE = "github.com/cert-manager/cert-manager@v1.21.2"
VERSION = "1.21.2"
DEPLOYMENTS = {"cert-manager", "cert-manager-cainjector", "cert-manager-webhook"}


@pytest.fixture
def charts(stack: Stack, tmp_path: Path) -> dict[str, bytes]:
    """The files of a chart repository as `helm package` and `helm repo index` make them."""
    helm, folder = str(stack.tool("helm")), tmp_path / "charts"
    source = go_module(MODULE) / "deploy" / "charts" / "cert-manager"
    package = [helm, "package", str(source), f"--version={VERSION}", f"--destination={folder}"]
    for command in (package, [helm, "repo", "index", str(folder)]):
        subprocess.run(command, check=True, capture_output=True)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
async def repository(charts: dict[str, bytes]) -> AsyncIterator[str]:
    """The URL under which they are served."""
    async with Site(charts).running() as site:
        yield site.url


@pytest.fixture
async def clean(convoy: Convoy) -> AsyncIterator[None]:
    """Its CRDs outlive every Release."""
    yield
    for crd in await convoy.home.list(CRDS):
        if crd["spec"]["group"].endswith("cert-manager.io"):
            await convoy.home.delete(CRDS, None, crd["metadata"]["name"])


async def test_it_is_installed_kept_in_sync_and_taken_down(
    convoy: Convoy, tenant: Tenant, repository: str, clean: None
) -> None:
    tenant = replace(tenant, patience=300.0)
    release = ReleaseId(tenant.namespace, "cert-manager")
    values = {
        "crds": {"enabled": True},
        "global": {"leaderElection": {"namespace": tenant.namespace}},
    }
    await tenant.release(
        "cert-manager",
        source={"helm": {"url": repository, "chart": "cert-manager", "version": "^1.21"}},
        content={"helm": {"namespace": tenant.namespace, "values": values}},
        policy={"prune": {"orphaned": True}, "onDelete": "Prune"},
    )
    await tenant.applied("cert-manager")

    # Its check of the API is a hook of post-install: a Job, after the objects that give it its rights.
    await tenant.until(
        "cert-manager", lambda tree: set(hooks_of(tree).values()) == {"Succeeded"}, "the chart's hooks"
    )
    tree = await tenant.recorded("cert-manager")
    assert tree["status"]["lastSuccessful"]["revision"].startswith(f"{VERSION}@sha256:")
    *_, last = hooks_of(tree)
    assert last == f"chart-post/{tenant.namespace}/cert-manager-startupapicheck"

    installed = await live(convoy, tenant)
    assert len(installed) == tree["status"]["history"][0]["objects"] > 40
    assert {key.name for key in installed if key.kind == "Deployment"} == DEPLOYMENTS
    assert sum(key.kind == "CustomResourceDefinition" for key in installed) == 6
    await until_available(convoy, tenant)

    await tenant.in_sync("cert-manager")
    report = await convoy.check(release)
    assert (report.verdict, report.in_sync) == (Verdict.IN_SYNC, len(installed))

    await tenant.sync("cert-manager")
    tree = await tenant.applied("cert-manager")
    assert len(tree["status"]["history"]) == 1
    assert generations(await live(convoy, tenant)) == generations(installed)

    # Its own webhook is asked about its own kinds alone: whatever else there is can be applied and taken down.
    await tenant.delete("cert-manager")
    await tenant.gone("cert-manager")
    left = {key.kind for key in installed if await convoy.objects.get(key) is not None}
    assert left == {"CustomResourceDefinition"}


def hooks_of(tree: Manifest) -> dict[str, str]:
    """Return the phase of each hook by name."""
    return {hook["name"]: hook["phase"] for hook in tree["status"].get("hooks") or ()}


def generations(objects: dict[ObjectKey, Manifest]) -> dict[ObjectKey, tuple[str, int | None]]:
    """Return what would tell that an object was made again or that its content changed."""
    return {
        key: (tree["metadata"]["uid"], tree["metadata"].get("generation")) for key, tree in objects.items()
    }


async def live(convoy: Convoy, tenant: Tenant) -> dict[ObjectKey, Manifest]:
    """Return the live object of everything in the inventory; each must be there."""
    inventory = await tenant.home.get(INVENTORIES, tenant.namespace, "cert-manager")
    keys = [
        ObjectKey(group.get("group", ""), group["kind"], group.get("namespace", ""), item["name"])
        for group in inventory["spec"]["objects"]
        for item in group["items"]
    ]
    found = {key: await convoy.objects.get(key) for key in keys}
    assert [str(key) for key, tree in found.items() if tree is None] == []
    return {key: tree for key, tree in found.items() if tree is not None}


async def until_available(convoy: Convoy, tenant: Tenant) -> None:
    deadline = time.monotonic() + tenant.patience
    for name in DEPLOYMENTS:
        key = ObjectKey("apps", "Deployment", tenant.namespace, name)
        while condition_of(await convoy.objects.get(key) or {}, "Available").get("status") != "True":
            assert time.monotonic() < deadline, f"{name} did not become available"
            await asyncio.sleep(0.2)
