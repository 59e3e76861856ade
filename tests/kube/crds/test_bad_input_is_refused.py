"""The API server itself refuses a bad value, naming the path of the field."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from convoy.kube.client import KubeClient
from convoy.kube.errors import Invalid
from convoy.kube.resources import Resource
from tests.kube.crds.conftest import CLUSTERS, INVENTORIES, RELEASES
from tests.unit.api import full

DROP = object()

BAD_RELEASES: dict[str, tuple[str, Any, str, str]] = {
    # sentence: (path to set, value, field that is named, text in the message)
    "an interval below zero": ("spec.syncPolicy.interval", "-5m", "spec.syncPolicy.interval", "-5m"),
    "an interval that is no duration": ("spec.syncPolicy.interval", "abc", "spec.syncPolicy.interval", "abc"),
    "an interval without a unit": ("spec.syncPolicy.interval", "5", "spec.syncPolicy.interval", "5"),
    "an interval that is a number": ("spec.syncPolicy.interval", 5, "spec.syncPolicy.interval", "string"),
    "an interval of a century": ("spec.syncPolicy.interval", "876000h", "spec.syncPolicy.interval", "longer"),
    "an interval beyond Go's range": (
        "spec.syncPolicy.interval",
        "99999999999999h",
        "spec.syncPolicy.interval",
        "must not be longer",
    ),
    "a backoff below zero": (
        "spec.syncPolicy.retryBackoff.initial",
        "-1s",
        "spec.syncPolicy.retryBackoff.initial",
        "-1s",
    ),
    "a backoff whose max is below its initial": (
        "spec.syncPolicy.retryBackoff.max",
        "1s",
        "spec.syncPolicy.retryBackoff",
        "max must not be below initial",
    ),
    "a share above 100": (
        "spec.syncPolicy.prune.maxPercent",
        101,
        "spec.syncPolicy.prune.maxPercent",
        "less than or equal to 100",
    ),
    "an unknown onDelete": ("spec.syncPolicy.onDelete", "Keep", "spec.syncPolicy.onDelete", "Keep"),
    "an automatic that is a text": (
        "spec.syncPolicy.automatic",
        "yes",
        "spec.syncPolicy.automatic",
        "boolean",
    ),
    "an unknown wave strategy": ("spec.syncWaves.0.strategy", "Wait", "spec.syncWaves[0].strategy", "Wait"),
    "a wave listed twice": ("spec.syncWaves.1.wave", 1, "spec.syncWaves[1]", "Duplicate value"),
    "a timeout that is no duration": (
        "spec.syncWaves.0.timeout",
        "soon",
        "spec.syncWaves[0].timeout",
        "soon",
    ),
    "two sources": ("spec.source.inline", {"files": {}}, "spec.source", "exactly one of git"),
    "no source": ("spec.source.git", DROP, "spec.source", "exactly one of git"),
    "a source that is missing": ("spec.source", DROP, "spec.source", "Required"),
    "two git refs": ("spec.source.git.ref.branch", "main", "spec.source.git.ref", "at most one of branch"),
    "a commit that is none": (
        "spec.source.git.ref",
        {"commit": "main"},
        "spec.source.git.ref.commit",
        "main",
    ),
    "an OCI URL without its scheme": (
        "spec.source",
        {"oci": {"url": "host/x"}},
        "spec.source.oci.url",
        "host/x",
    ),
    "two contents": ("spec.content.manifests", {}, "spec.content", "exactly one of manifests"),
    "no content": ("spec.content.helm", DROP, "spec.content", "exactly one of manifests"),
    "values from nowhere": (
        "spec.content.helm.valuesFrom.0.configMapRef",
        DROP,
        "spec.content.helm.valuesFrom[0]",
        "exactly one of configMapRef",
    ),
    "no cluster": ("spec.clusterRef", DROP, "spec.clusterRef", "Required"),
    "a cluster without a name": ("spec.clusterRef.name", "", "spec.clusterRef.name", "at least 1"),
    "an ignored path that is no pointer": (
        "spec.ignoreDifferences.0.paths.0",
        "spec.replicas",
        "spec.ignoreDifferences[0].paths[0]",
        "spec.replicas",
    ),
    "an unknown failure action": (
        "spec.failurePolicy.action",
        "Panic",
        "spec.failurePolicy.action",
        "Panic",
    ),
    "no history": ("spec.historyLimit", 0, "spec.historyLimit", "greater than or equal to 1"),
    "a mutation of two kinds": ("mutations.1.image", {"name": "x"}, "mutations[1]", "exactly one of patch"),
    "a mutation that changes nothing": ("mutations.1.merge", DROP, "mutations[1]", "exactly one of patch"),
    "an unknown patch operation": ("mutations.0.patch.0.op", "change", "mutations[0].patch[0].op", "change"),
    "a hook that is a job and an approval": (
        "lifecycle.preSync.0.approval",
        {},
        "lifecycle.preSync[0]",
        "exactly one of job",
    ),
    "a hook that is nothing": (
        "lifecycle.preSync.1.approval",
        DROP,
        "lifecycle.preSync[1]",
        "exactly one of job",
    ),
    "a hook's name that no Job can have": (
        "lifecycle.preSync.0.name",
        "Not A Name",
        "lifecycle.preSync[0].name",
        "Not A Name",
    ),
    "two hooks of one name in one list": (
        "lifecycle.preSync.1.name",
        "migrate",
        "lifecycle.preSync[1]",
        "Duplicate value",
    ),
    "two hooks of one name in both lists": (
        "lifecycle.postSync.0.name",
        "migrate",
        "lifecycle",
        "must differ",
    ),
    "an unknown run policy": (
        "lifecycle.preSync.0.runPolicy",
        "Never",
        "lifecycle.preSync[0].runPolicy",
        "Never",
    ),
    "a pin that is no renderRef": ("pin.renderRef", "latest", "pin.renderRef", "latest"),
    "a name that no workflow id can hold": ("metadata.name", "x" * 181, "", "180 characters"),
}


@pytest.mark.parametrize("sentence", BAD_RELEASES)
async def test_a_release_is_refused_for(server: KubeClient, namespace: str, sentence: str) -> None:
    path, value, field, text = BAD_RELEASES[sentence]
    await _is_refused(server, RELEASES, _with(full.release(namespace=namespace), path, value), field, text)


BAD_CLUSTERS: dict[str, tuple[str, Any, str, str]] = {
    "two ways to connect": ("spec.inCluster", {}, "spec", "exactly one of inCluster"),
    "no way to connect": ("spec.kubeconfigSecretRef", DROP, "spec", "exactly one of inCluster"),
    "no requests at all": ("spec.maxInFlight", 0, "spec.maxInFlight", "greater than or equal to 1"),
    "a timeout below zero": ("spec.connectTimeout", "-1s", "spec.connectTimeout", "-1s"),
}


@pytest.mark.parametrize("sentence", BAD_CLUSTERS)
async def test_a_cluster_is_refused_for(server: KubeClient, namespace: str, sentence: str) -> None:
    path, value, field, text = BAD_CLUSTERS[sentence]
    await _is_refused(server, CLUSTERS, _with(full.cluster(namespace=namespace), path, value), field, text)


async def test_an_inventory_is_refused_for_an_object_without_a_kind(
    server: KubeClient, namespace: str
) -> None:
    bad = _with(full.inventory(namespace=namespace), "spec.objects.0.kind", DROP)
    await _is_refused(server, INVENTORIES, bad, "spec.objects[0].kind", "Required")


async def test_the_cluster_of_a_release_cannot_be_changed(server: KubeClient, namespace: str) -> None:
    await server.create(full.release(namespace=namespace), RELEASES)
    with pytest.raises(Invalid) as refused:
        await server.patch(RELEASES, namespace, "full", {"spec": {"clusterRef": {"name": "prod-us"}}})
    assert [cause.field for cause in refused.value.causes] == ["spec.clusterRef"]
    assert "cannot be changed" in refused.value.message


@pytest.mark.parametrize("text", ["0", "0s", "90s", "5m", "1h30m", "1.5h", ".5s", "250ms", "8760h"])
async def test_go_durations_are_taken(server: KubeClient, namespace: str, text: str) -> None:
    release = _with(full.release(namespace=namespace), "spec.syncPolicy.interval", text)
    stored = await server.create(release, RELEASES, dry_run=True)
    assert stored["spec"]["syncPolicy"]["interval"] == text


async def test_automatic_and_interval_have_no_default(server: KubeClient, namespace: str) -> None:
    release = _with(full.release(namespace=namespace), "spec.syncPolicy", {})
    stored = await server.create(release, RELEASES, dry_run=True)
    assert stored["spec"]["syncPolicy"] == {}


async def _is_refused(
    server: KubeClient, resource: Resource, bad: dict[str, Any], field: str, text: str
) -> None:
    with pytest.raises(Invalid) as refused:
        await server.create(bad, resource, dry_run=True)
    fields = [cause.field for cause in refused.value.causes]
    assert field in [found.removeprefix("<nil>") for found in fields], refused.value.message
    assert text in refused.value.message


def _with(tree: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(tree)
    node: Any = changed
    *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    for part in parents:
        node = node[part]
    if value is DROP:
        del node[last]
    else:
        node[last] = value
    return changed
