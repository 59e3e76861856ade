"""What the design names is stored as it was sent: nothing is pruned, nothing is added."""

from __future__ import annotations

from typing import Any

import pytest

from convoy.api.cluster import Cluster
from convoy.api.common import ApiModel
from convoy.api.inventory import ReleaseInventory
from convoy.api.release import Release
from convoy.kube.client import KubeClient
from convoy.kube.encode import apply_body
from convoy.kube.resources import Resource
from tests.kube.crds.conftest import CLUSTERS, INVENTORIES, RELEASES
from tests.unit.api import full

EVERY_KIND = pytest.mark.parametrize(
    ("resource", "model", "make", "status"),
    [
        (RELEASES, Release, full.release, full.release_status()),
        (CLUSTERS, Cluster, full.cluster, full.cluster_status()),
        (INVENTORIES, ReleaseInventory, full.inventory, full.inventory_status()),
    ],
    ids=["Release", "Cluster", "ReleaseInventory"],
)


@EVERY_KIND
async def test_an_object_with_every_field_is_stored_unchanged(
    server: KubeClient, namespace: str, resource: Resource, model: type[ApiModel], make: Any, status: Any
) -> None:
    sent = make(namespace=namespace)
    body = apply_body(sent)
    stored = await server.apply(body, resource, namespace, "full", manager="tests")
    _same_but_metadata(stored, sent)

    told = {key: sent[key] for key in ("apiVersion", "kind", "metadata")} | {"status": status}
    after = await server.apply(
        apply_body(told), resource, namespace, "full", manager="convoy", subresource="status"
    )
    _same_but_metadata(after, sent | {"status": status})
    assert model.read(after).tree()["status"] == status


@EVERY_KIND
async def test_the_model_knows_every_field_of_the_schema(
    resource: Resource, model: type[ApiModel], make: Any, status: Any
) -> None:
    tree = make() | {"status": status}
    assert _paths(model.read(tree).tree()) == _paths(tree)


async def test_the_status_is_written_by_its_subresource_only(server: KubeClient, namespace: str) -> None:
    sent = full.release(namespace=namespace) | {"status": full.release_status()}
    stored = await server.create(sent, RELEASES)
    assert "status" not in stored


async def test_two_status_writers_keep_each_others_conditions(server: KubeClient, namespace: str) -> None:
    sent = full.release(namespace=namespace)
    await server.create(sent, RELEASES)
    for manager, kind in (("convoy", "Applied"), ("convoy-observe", "InSync")):
        status = {"conditions": [{"type": kind, "status": "True", "reason": kind, "message": manager}]}
        told = {key: sent[key] for key in ("apiVersion", "kind", "metadata")} | {"status": status}
        stored = await server.apply(
            apply_body(told), RELEASES, namespace, "full", manager=manager, subresource="status"
        )
    assert {entry["type"]: entry["message"] for entry in stored["status"]["conditions"]} == {
        "Applied": "convoy",
        "InSync": "convoy-observe",
    }


async def test_ten_thousand_objects_fit_into_one_inventory(server: KubeClient, namespace: str) -> None:
    sent = full.inventory(namespace=namespace)
    items = [
        {"name": f"{number:045d}", "uid": "00000000-0000-0000-0000-000000000000"} for number in range(10_000)
    ]
    group = {"wave": 0, "group": "", "kind": "ConfigMap", "namespace": "demo", "items": items}
    sent["spec"] |= {"objects": [group], "planned": [], "claims": []}
    await server.apply(apply_body(sent), INVENTORIES, namespace, "full", manager="convoy")
    stored = await server.get(INVENTORIES, namespace, "full")
    assert len(ReleaseInventory.read(stored).spec.objects[0].items) == 10_000
    assert len(apply_body(stored)) < 1_200_000


def _same_but_metadata(stored: dict[str, Any], sent: dict[str, Any]) -> None:
    assert {k: v for k, v in stored.items() if k != "metadata"} == {
        k: v for k, v in sent.items() if k != "metadata"
    }


def _paths(tree: Any, path: str = "") -> set[str]:
    if isinstance(tree, dict) and tree:
        return {found for key, value in tree.items() for found in _paths(value, f"{path}/{key}")}
    if isinstance(tree, list) and tree:
        return {found for index, value in enumerate(tree) for found in _paths(value, f"{path}/{index}")}
    return {path}
