"""`kubectl get` shows what an operator looks for first, `-o wide` also why."""

from __future__ import annotations

from typing import Any

import msgspec

from convoy.api.names import API_VERSION, GROUP
from convoy.kube.client import KubeClient
from convoy.kube.encode import apply_body
from tests.kube.crds.conftest import RELEASES
from tests.unit.api import full


async def test_releases_print_their_conditions_revision_and_cluster(
    server: KubeClient, namespace: str
) -> None:
    sent = full.release(namespace=namespace)
    await server.create(sent, RELEASES)
    told = {key: sent[key] for key in ("apiVersion", "kind", "metadata")} | {"status": full.release_status()}
    await server.apply(apply_body(told), RELEASES, namespace, "full", subresource="status")

    table = await _table(server, f"/apis/{API_VERSION}/namespaces/{namespace}/releases")
    columns = {column["name"]: column["priority"] for column in table["columnDefinitions"]}
    assert columns == {
        "Name": 0,
        "Applied": 0,
        "In-Sync": 0,
        "Healthy": 0,
        "Revision": 0,
        "Cluster": 0,
        "Age": 0,
        "Rollout": 1,
        "Pinned": 1,
        "Applied-Message": 1,
        "In-Sync-Message": 1,
        "Healthy-Message": 1,
    }
    assert table["rows"][0]["cells"][:6] == ["full", "True", "True", "True", "main@abc", "prod-eu"]
    assert table["rows"][0]["cells"][7:9] == ["RolledBack", sent["pin"]["renderRef"]]


async def test_short_names_are_rel_and_relinv(server: KubeClient) -> None:
    found = await _table(server, f"/apis/{API_VERSION}", accept="application/json")
    names = {entry["name"]: entry.get("shortNames") for entry in found["resources"]}
    assert names["releases"] == ["rel"]
    assert names["releaseinventories"] == ["relinv"]
    assert names["clusters"] is None
    assert found["groupVersion"].startswith(GROUP)


async def _table(
    server: KubeClient, path: str, accept: str = "application/json;as=Table;v=v1;g=meta.k8s.io"
) -> dict[str, Any]:
    answer = await server.request("GET", path, accept=accept)
    tree: dict[str, Any] = msgspec.json.decode(answer.body)
    return tree
