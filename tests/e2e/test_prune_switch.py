"""`prune.orphaned` is what it is when the prune would begin (`reference/apply-and-prune`, Prune; D21b)."""

from __future__ import annotations

import pytest

from convoy.kube.resources import INVENTORIES
from tests.e2e.seen_target import seen_target
from tests.e2e.tenant import Tenant, applied_of, config_map


@pytest.mark.parametrize("orphaned", [True, False])
async def test_the_switch_decides_whether_a_dropped_object_goes(tenant: Tenant, orphaned: bool) -> None:
    files = {f"{name}.yaml": config_map(name, tenant.namespace) for name in "ab"}
    await tenant.release("app", files, policy={"prune": {"orphaned": orphaned}})
    await tenant.applied("app")
    await tenant.files("app", {"b.yaml": None})
    tree = await tenant.applied("app")
    assert ("pruned 1" in applied_of(tree)["message"]) is orphaned
    assert (await tenant.config_map("b") is None) is orphaned
    assert await recorded(tenant) == ["a"]


async def test_a_prune_that_is_switched_off_while_the_sync_runs_deletes_nothing(tenant: Tenant) -> None:
    async with seen_target(tenant) as seen:
        files = {f"{name}.yaml": config_map(name, tenant.namespace, v="1") for name in "ab"}
        await tenant.release("app", files, policy={"prune": {"orphaned": True}}, cluster="seen")
        await tenant.applied("app")
        seen.hold("a")
        await tenant.files("app", {"a.yaml": config_map("a", tenant.namespace, v="2"), "b.yaml": None})
        await seen.is_held()
        await tenant.patch("app", {"spec": {"syncPolicy": {"prune": {"orphaned": False}}}})
        seen.let_go.set()
        tree = await tenant.applied("app")
        assert "pruned" not in applied_of(tree)["message"]
        assert await tenant.config_map("b") is not None
        assert [write.method for write in seen.written("b")] == ["PATCH"]
        assert await recorded(tenant) == ["a"], "as for a Release that never pruned"


async def recorded(tenant: Tenant) -> list[str]:
    tree = await tenant.home.get(INVENTORIES, tenant.namespace, "app")
    return [item["name"] for group in tree["spec"]["objects"] for item in group["items"]]
