"""A mutation renames and moves nothing that has no namespace, and what it makes is read like any other object."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from convoy.api.errors import Unsupported
from tests.unit.render.rig import CONFIG_MAP, Rig

ALL = """
apiVersion: v1
kind: Namespace
metadata: {name: dev}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: inner}
"""


async def test_a_namespace_is_set_where_there_can_be_one(rig: Rig) -> None:
    """Case A35."""
    rig.scope.kinds["rbac.authorization.k8s.io", "ClusterRole"] = False

    render = await rig.mutated(ALL, {"merge": {"metadata": {"namespace": "target"}}})

    assert [str(item) for item in render.objects] == [
        "Namespace dev",
        "ClusterRole.rbac.authorization.k8s.io reader",
        "ConfigMap target/inner",
    ]
    assert "namespace" not in render.objects[0].manifest["metadata"]


@pytest.mark.parametrize(
    ("mutation", "message"),
    [
        ({"merge": {"metadata": {"name": "x"}}}, "on Namespace dev would rename it"),
        ({"merge": {"kind": "Pod"}}, "on Namespace dev would make it another kind"),
        ({"merge": {"apiVersion": "apps/v1"}}, "on Namespace dev would make it another kind"),
        ({"merge": {"metadata": {"name": None}}}, "on Namespace dev: Namespace has no metadata.name"),
        ({"patch": [{"op": "remove", "path": "/kind"}]}, "on Namespace dev: an object has no kind"),
        ({"patch": [{"op": "replace", "path": "", "value": [1]}]}, "this is a list"),
        (
            {"patch": [{"op": "replace", "path": "/spec/x", "value": 1}]},
            "on Namespace dev: patch[0] (replace '/spec/x'): there is nothing at this path",
        ),
    ],
)
async def test_what_it_may_not_do_names_mutation_and_object(
    rig: Rig, mutation: dict[str, Any], message: str
) -> None:
    with pytest.raises(Unsupported) as caught:
        await rig.mutated(ALL, {"target": {"kind": "Pod"}, "merge": {}}, mutation)

    assert caught.value.message.startswith("mutations[1] on ")
    assert message in caught.value.message


async def test_two_objects_that_become_one_are_refused(rig: Rig) -> None:
    both = f"{CONFIG_MAP % 'a'}---\n{CONFIG_MAP % 'b'}"

    with pytest.raises(
        Unsupported, match=r"ConfigMap default/x is in the render twice: all\.yaml, document 1"
    ):
        await rig.mutated(both, {"merge": {"metadata": {"name": "x"}}})


async def test_what_is_never_sent_does_not_come_in(rig: Rig) -> None:
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {k: one}\n"

    render = await rig.mutated(
        secret, {"merge": {"stringData": {"l": "two"}, "status": {"x": 1}, "type": None}}
    )

    assert render.objects[0].manifest["data"] == {
        "k": base64.b64encode(b"one").decode(),
        "l": base64.b64encode(b"two").decode(),
    }
    assert {"status", "stringData"}.isdisjoint(render.objects[0].manifest)


async def test_a_wave_can_be_set(rig: Rig) -> None:
    wave = {"merge": {"metadata": {"annotations": {"convoy.kumodo.io/sync-wave": "3"}}}}

    assert (await rig.mutated(CONFIG_MAP % "a", wave)).objects[0].wave == 3


async def test_a_patch_cannot_fill_the_memory(rig: Rig) -> None:
    double = [{"op": "copy", "from": "/data", "path": f"/data/{number}"} for number in range(40)]
    text = f"{CONFIG_MAP % 'a'}data: {{k: v}}\n"

    with pytest.raises(Unsupported, match="adds more than 1000000 values"):
        await rig.mutated(text, {"patch": double})


async def test_no_message_quotes_a_value(rig: Rig) -> None:
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {k: hunter2}\n"

    with pytest.raises(Unsupported) as caught:
        await rig.mutated(secret, {"patch": [{"op": "test", "path": "/data/k", "value": "hunter3"}]})

    assert "the value there is another one" in caught.value.message
    assert "hunter" not in caught.value.message


async def test_a_patch_cannot_nest_without_end(rig: Rig) -> None:
    deep = [
        {"op": "copy", "from": "/data", "path": "/data" + "/m" * length}
        for length in (1, 2, 4, 8, 16, 32, 64, 128, 256, 500)
    ]
    text = f"{CONFIG_MAP % 'a'}data: {{}}\n"

    with pytest.raises(
        Unsupported, match=r"mutations\[0\] on ConfigMap default/a: nested (too deep|more than 200)"
    ):
        await rig.mutated(text, {"patch": deep})
