"""A Release that an older schema let in and the models refuse: it is answered once, and can be deleted."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from convoy.kube.resources import CRDS
from tests.chaos.site import Site
from tests.e2e.harness.convoy import install
from tests.e2e.tenant import Tenant, applied_of, config_map


@pytest.fixture
async def older_schema(site: Site) -> AsyncIterator[None]:
    path = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/historyLimit/minimum"
    patch = [{"op": "replace", "path": path, "value": -1}]
    await site.home.patch(CRDS, None, "releases.convoy.kumodo.io", patch, kind="json")
    yield
    await install(site.home, site.environment.get("CONVOY_NAMESPACE", "convoy-system"))


async def test_it_is_answered_once_for_each_event_and_can_be_deleted(
    site: Site, tenant: Tenant, older_schema: None
) -> None:
    await site.worker()
    await site.watcher()
    await tenant.release(
        "old", {"a.yaml": config_map("a", tenant.namespace)}, policy={"onDelete": "Prune"}, historyLimit=0
    )
    await tenant.release("canary", {"a.yaml": config_map("canary", tenant.namespace)})
    tree = await tenant.applied("old", "Unsupported")
    assert "spec.historyLimit" in applied_of(tree)["message"]
    await tenant.sync("old")
    await tenant.applied("old", "Unsupported")
    for number in range(3):
        await tenant.files("canary", {"a.yaml": config_map("canary", tenant.namespace, v=str(number))})
        await tenant.applied("canary")
    assert await tenant.passes("old") == 2
    await tenant.delete("old")
    await tenant.gone("old")
