"""Custom resources: with a schema and defaults, int-or-string, free-form parts, and no status subresource."""

from typing import Any

import pytest

from convoy.api.objects import Manifest
from convoy.drift.results import DriftStatus
from tests.kube.drift.rig import Rig, pointers
from tests.waiting import until_served

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "litres": {"type": "number", "default": 1.5},
                "port": {"x-kubernetes-int-or-string": True},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "keyed": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["id"],
                    "items": {
                        "type": "object",
                        "required": ["id"],
                        "properties": {
                            "id": {"type": "string"},
                            "n": {"type": "integer", "default": 7},
                        },
                    },
                },
                "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
                "nothing": {"type": "object", "nullable": True, "properties": {"a": {"type": "string"}}},
            },
        },
        "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
    },
}
FREE: dict[str, Any] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def custom(rig: Rig, spec: Any) -> Manifest:
    return {
        "apiVersion": f"x{rig.id}.example.org/v1",
        "kind": "Kettle",
        "metadata": {"name": "blue", "namespace": rig.namespace},
        "spec": spec,
    }


async def define(rig: Rig, schema: dict[str, Any]) -> Manifest:
    group = f"x{rig.id}.example.org"
    crd: Manifest = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"kettles.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": "Kettle", "plural": "kettles"},
            "versions": [
                {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
            ],
        },
    }
    await rig.apply(crd)
    await until_served(rig.client, crd["metadata"]["name"], rig.discovery)
    return crd


async def test_defaults_of_the_schema_are_no_drift(rig: Rig) -> None:
    crd = await define(rig, SCHEMA)
    manifest = custom(
        rig, {"keyed": [{"id": "a"}], "port": "http", "tags": ["x"], "free": {"a": {}, "b": []}}
    )
    await rig.apply(manifest)
    assert (await rig.compare(manifest)).status is DriftStatus.IN_SYNC
    await rig.delete(crd)


@pytest.mark.parametrize(
    ("path", "value", "pointer"),
    [
        ("/spec/port", 80, "/spec/port"),
        ("/spec/litres", 3, "/spec/litres"),
        ("/spec/free/ink/colour", "red", "/spec/free/ink/colour"),
        ("/spec/free/strokes/1/w", 3, "/spec/free/strokes/1/w"),
        ("/spec/free/paper~1size", "A3", "/spec/free/paper~1size"),
        ("/spec/free/flag", 1, "/spec/free/flag"),
        ("/spec/free/empty", [], "/spec/free/empty"),
        ("/spec/keyed/1/n", 9, "/spec/keyed/1/n"),
        ("/spec/keyed", [{"id": "b", "n": 2}], "/spec/keyed/0"),
        ("/spec/tags", [], "/spec/tags"),
    ],
)
async def test_a_change_shows_where_it_is(rig: Rig, path: str, value: Any, pointer: str) -> None:
    crd = await define(rig, SCHEMA)
    manifest = custom(
        rig,
        {
            "litres": 2,
            "port": "80",
            "free": {
                "ink": {"colour": "green"},
                "strokes": [{"w": 1}, {"w": 2}],
                "paper/size": "A5",
                "flag": True,
                "empty": {},
            },
            "keyed": [{"id": "a", "n": 1}, {"id": "b", "n": 2}],
            "tags": ["x", "y"],
        },
    )
    await rig.apply(manifest)
    await rig.edit(manifest, [{"op": "replace", "path": path, "value": value}], kind="json")
    assert pointers(await rig.compare(manifest)) == [pointer]
    await rig.apply(manifest)
    assert (await rig.compare(manifest)).status is DriftStatus.IN_SYNC
    await rig.delete(crd)


async def test_without_a_schema_additions_are_no_drift_and_changes_are(rig: Rig) -> None:
    crd = await define(rig, FREE)
    manifest = custom(rig, {"a": {"b": 1}})
    await rig.apply(manifest)
    await rig.edit(manifest, {"spec": {"frame": {"wood": "oak"}}, "other": {"x": 1}})
    assert (await rig.compare(manifest)).status is DriftStatus.IN_SYNC
    await rig.edit(manifest, {"spec": {"a": {"b": 2}}})
    assert pointers(await rig.compare(manifest)) == ["/spec/a/b"]
    await rig.delete(crd)


async def test_status_without_a_subresource_is_neither_sent_nor_compared(rig: Rig) -> None:
    crd = await define(rig, SCHEMA)
    manifest = {**custom(rig, {"litres": 2}), "status": {"phase": "Off"}}
    await rig.apply(manifest)
    assert "status" not in await rig.get(manifest)
    await rig.edit(manifest, {"status": {"phase": "Glowing"}})
    assert (await rig.compare(manifest)).status is DriftStatus.IN_SYNC
    await rig.delete(crd)
