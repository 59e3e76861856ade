"""Whatever a Release names wrongly, its Applied condition says which thing is at fault, and nobody else notices.

Issue 3, "Bad input". `retryBackoff` is long, so that each of them is tried once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from convoy.kube.resources import SECRETS
from tests.e2e.tenant import Tenant, applied_of, config_map, failed_tasks

CALM = {"retryBackoff": {"initial": "1h"}}
NOBODY = "127.0.0.1:9"
"""Nothing listens on the discard port."""

FAULTS: dict[str, tuple[Mapping[str, Any], str, tuple[str, ...]]] = {
    "a missing ConfigMap": (
        {"source": {"configMap": {"name": "nowhere"}}},
        "SourceNotReady",
        ("ConfigMap {namespace}/nowhere", "missing"),
    ),
    "an unreachable git URL": (
        {"source": {"git": {"url": f"http://{NOBODY}/shop.git"}}},
        "SourceNotReady",
        (f"http://{NOBODY}/shop.git",),
    ),
    "a git URL with nothing behind it": (
        {"source": {"git": {"url": "file:///nowhere/shop.git"}}},
        "SourceNotReady",
        ("file:///nowhere/shop.git",),
    ),
    "broken YAML": (
        {"files": {"deep/app.yaml": "apiVersion: v1\nkind: ConfigMap\n  metadata: {}\n"}},
        "Unsupported",
        ("deep/app.yaml", "line 3"),
    ),
    "an object without a name": (
        {"files": {"app.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {labels: {a: b}}\n"}},
        "Unsupported",
        ("app.yaml", "ConfigMap", "metadata.name"),
    ),
    "an unknown Cluster": (
        {"files": {"app.yaml": "{}"}, "cluster": "nowhere"},
        "ClusterNotReady",
        ("Cluster {namespace}/nowhere",),
    ),
    "an unreachable Cluster": (
        {"files": {"app.yaml": "{}"}, "cluster": "far"},
        "ClusterNotReady",
        ("Cluster {namespace}/far", NOBODY),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_release_says_what_is_wrong_with_it(tenant: Tenant, fault: str) -> None:
    spec, reason, named = FAULTS[fault]
    await unreachable_cluster(tenant, "far")
    await tenant.release("bad", policy=CALM, **spec)
    tree = await tenant.applied("bad", reason)
    assert applied_of(tree)["status"] == "False"
    for text in named:
        assert text.format(namespace=tenant.namespace) in applied_of(tree)["message"]
    assert "lastAttempted" not in tree["status"], "no step of the sync has begun"


async def test_no_bad_release_fails_a_workflow_task_or_keeps_another_one_waiting(tenant: Tenant) -> None:
    await unreachable_cluster(tenant, "far")
    names = [f"bad-{number}" for number in range(len(FAULTS))]
    # Without retryBackoff: the default limiter tries them again and again meanwhile.
    for name, (spec, _, _) in zip(names, FAULTS.values(), strict=True):
        await tenant.release(name, **spec)
    await tenant.release("good", {"app.yaml": config_map("good", tenant.namespace)})
    await tenant.applied("good")
    for name, (_, reason, _) in zip(names, FAULTS.values(), strict=True):
        await tenant.applied(name, reason)
    for name in [*names, "good"]:
        for kind in ("sync", "drift"):
            for history in await tenant.histories(name, kind):
                assert failed_tasks(history) == []


async def test_a_bad_release_goes_on_once_what_it_names_is_there(tenant: Tenant) -> None:
    await tenant.release("late", policy={"retryBackoff": {"initial": "1s", "max": "1s"}}, cluster="late", files={
        "app.yaml": config_map("late", tenant.namespace)
    })  # fmt: skip
    await tenant.applied("late", "ClusterNotReady")
    await tenant.cluster("late", {"inCluster": {}})
    await tenant.applied("late")


async def unreachable_cluster(tenant: Tenant, name: str) -> None:
    kubeconfig = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "far", "cluster": {"server": f"https://{NOBODY}"}}],
        "users": [{"name": "far", "user": {"token": "none"}}],
        "contexts": [{"name": "far", "context": {"cluster": "far", "user": "far"}}],
        "current-context": "far",
    }
    await tenant.create(SECRETS, name, {"stringData": {"kubeconfig": json.dumps(kubeconfig)}})
    await tenant.cluster(name, {"kubeconfigSecretRef": {"name": name}, "connectTimeout": "1s"})
