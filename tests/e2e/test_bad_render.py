"""Objects that cannot be applied: the condition names each, nothing is half written, no Secret value is told."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from convoy.kube.errors import NotFound
from convoy.kube.resources import INVENTORIES
from tests.e2e.tenant import Tenant, applied_of, config_map

CALM = {"retryBackoff": {"initial": "1h"}}
SECRET_VALUE = "c3VwZXItc2VjcmV0"


def container(*env: str) -> str:
    lines = "".join(f"\n      - {each}" for each in env)
    return (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: bad, namespace: NAMESPACE}\n"
        f"spec:\n  containers:\n  - name: main\n    image: x\n    env:{lines}\n"
    )


FAULTS: dict[str, tuple[Mapping[str, str], str, tuple[str, ...]]] = {
    "one object in two files": (
        {"one.yaml": config_map("a", "NAMESPACE"), "two.yaml": config_map("a", "NAMESPACE")},
        "Unsupported",
        ("ConfigMap NAMESPACE/a", "one.yaml", "two.yaml"),
    ),
    "a wave that is no number": (
        {"a.yaml": config_map("a", "NAMESPACE") + "  annotations: {convoy.kumodo.io/sync-wave: first}\n"},
        "Unsupported",
        ("ConfigMap NAMESPACE/a", "sync-wave"),
    ),
    "a namespace that is not there": (
        {"a.yaml": config_map("a", "nowhere-NAMESPACE")},
        "Unappliable",
        ("ConfigMap nowhere-NAMESPACE/a", "does not exist"),
    ),
    "a field that the kind has not": (
        {"a.yaml": config_map("a", "NAMESPACE") + "datas: {x: y}\n"},
        "Unappliable",
        ("ConfigMap NAMESPACE/a", "datas"),
    ),
    "an environment variable given twice": (
        {"a.yaml": container("{name: X, value: '1'}", "{name: X, value: '2'}")},
        "Unappliable",
        ("Pod NAMESPACE/bad", "X"),
    ),
    "a value of the wrong type": (
        {"a.yaml": container("{name: X, value: 1}")},
        "Unappliable",
        ("Pod NAMESPACE/bad", "env"),
    ),
    "a Secret whose value is no text": (
        {
            "a.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: bad, namespace: NAMESPACE}\n"
            f"data: {{good: {SECRET_VALUE}, bad: {{{SECRET_VALUE}: 1}}}}\n"
        },
        "Unappliable",
        ("Secret NAMESPACE/bad",),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_it_is_named_and_nothing_is_applied(tenant: Tenant, fault: str) -> None:
    files, reason, named = FAULTS[fault]
    files = {name: text.replace("NAMESPACE", tenant.namespace) for name, text in files.items()}
    good = {"good.yaml": config_map("good", tenant.namespace)}
    await tenant.release("app", files | good, policy=CALM)
    tree = await tenant.applied("app", reason)
    message = applied_of(tree)["message"]
    for text in named:
        assert text.replace("NAMESPACE", tenant.namespace) in message
    assert SECRET_VALUE not in str(tree["status"])
    assert "good" not in message
    assert await tenant.config_map("good") is None
    async with asyncio.timeout(30):
        while await planned(tenant):  # noqa: ASYNC110
            await asyncio.sleep(0.1)


async def planned(tenant: Tenant) -> bool:
    """Return whether the inventory still has what was about to be applied; it may not be there at all."""
    try:
        spec = (await tenant.home.get(INVENTORIES, tenant.namespace, "app"))["spec"]
    except NotFound:
        return False
    return bool(spec["objects"] or spec["planned"])
