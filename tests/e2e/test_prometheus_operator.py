"""A real, big input: `bundle.yaml` of prometheus-operator, 4 MB with ten CRDs of up to 700 kB."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from convoy.kube.errors import NotFound
from convoy.kube.resources import CRDS, INVENTORIES
from tests.e2e.harness.convoy import Convoy
from tests.e2e.tenant import Tenant
from tests.go_modules import go_module
from tests.unit.sources.repository import Repository
from workflows.contract import ReleaseId, Verdict

MODULE = "github.com/prometheus-operator/prometheus-operator@v0.85.0"
CRD_KIND = ("apiextensions.k8s.io", "CustomResourceDefinition")


@pytest.fixture(scope="module")
def bundle() -> str:
    """The file, from the Go module proxy."""
    return (go_module(MODULE) / "bundle.yaml").read_text()


@pytest.fixture
async def clean(convoy: Convoy) -> AsyncIterator[None]:
    """The CRDs and cluster roles outlive every namespace."""
    yield
    for crd in await convoy.home.list(CRDS):
        if crd["spec"]["group"] == "monitoring.coreos.com":
            await convoy.home.delete(CRDS, None, crd["metadata"]["name"])


async def test_it_is_synced_compared_pruned_and_orphaned(
    convoy: Convoy, tenant: Tenant, bundle: str, tmp_path: Path, clean: None
) -> None:
    tenant = replace(tenant, patience=300.0)
    release = ReleaseId(tenant.namespace, "operator")
    repository = Repository(tmp_path / "operator")
    repository.git("rm", "-q", "a.yaml")
    documents = bundle.replace("namespace: default", f"namespace: {tenant.namespace}").split("\n---\n")
    for number, text in enumerate(documents):
        (repository.folder / f"{number:02}.yaml").write_text(text)
    repository.commit("README", "the bundle")
    await tenant.release(
        "operator",
        source={"git": {"url": repository.url}},
        policy={"prune": {"orphaned": True}, "onDelete": "Prune"},
    )
    tree = await tenant.applied("operator")
    assert tree["status"]["history"][0]["objects"] == len(documents)
    crds = [key for key in await recorded(tenant) if key[:2] == CRD_KIND]
    assert len(crds) == 10
    report = await convoy.check(release)
    assert (report.verdict, report.in_sync) == (Verdict.IN_SYNC, len(documents))

    # The operator itself goes; of the CRDs one leaves the render, and stays on the cluster: its kind is protected.
    gone = [
        path
        for path in repository.folder.glob("*.yaml")
        if "\nkind: Deployment\n" in path.read_text() or "\n  name: probes.monitoring" in path.read_text()
    ]
    assert len(gone) == 2
    for path in gone:
        path.unlink()
    repository.commit("README", "without the operator")
    await tenant.sync("operator")
    await tenant.until("operator", lambda tree: len(tree["status"]["history"]) == 2, "the second render")
    left = await recorded(tenant)
    assert len(left) == len(documents) - 2
    deployments = await convoy.objects.list(
        "apps",
        "Deployment",
        namespace=tenant.namespace,
        selector="app.kubernetes.io/name=prometheus-operator",
    )
    assert [each for each in deployments if "deletionTimestamp" not in each["metadata"]] == []
    await convoy.home.get(CRDS, None, "probes.monitoring.coreos.com")
    assert (await convoy.check(release)).verdict is Verdict.IN_SYNC

    await tenant.delete("operator")
    await tenant.gone("operator")
    for _, _, name in crds:
        await convoy.home.get(CRDS, None, name)
    with pytest.raises(NotFound):
        await convoy.home.get(INVENTORIES, tenant.namespace, "operator")


async def recorded(tenant: Tenant) -> list[tuple[str, str, str]]:
    inventory = await tenant.home.get(INVENTORIES, tenant.namespace, "operator")
    return [
        (group.get("group", ""), group["kind"], item["name"])
        for group in inventory["spec"]["objects"]
        for item in group["items"]
    ]
