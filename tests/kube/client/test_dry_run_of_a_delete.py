"""A delete as a dry run deletes nothing: where a body is sent, the server ignores the query."""

from __future__ import annotations

from convoy.kube.client import KubeClient
from convoy.kube.resources import CONFIG_MAPS


async def test_a_dry_run_of_a_delete_deletes_nothing(home: KubeClient, namespace: str) -> None:
    await home.create(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "box", "namespace": namespace}},
        CONFIG_MAPS,
    )
    await home.delete(CONFIG_MAPS, namespace, "box", dry_run=True)
    assert await home.get(CONFIG_MAPS, namespace, "box")
