"""Two Releases that want one object: one has it, the other waits and is woken (D14).

The resync is an hour and every wait here is shorter: a wait that ends was ended by an event.
"""

from __future__ import annotations

from tests.e2e.seen_target import seen_target
from tests.e2e.tenant import Tenant, applied_of, config_map

PRUNE = {"prune": {"orphaned": True}}


def owns(tenant: Tenant, *names: str, by: str) -> dict[str, str]:
    return {f"{name}.yaml": config_map(name, tenant.namespace, by=by) for name in names}


async def uid_of(tenant: Tenant, name: str) -> str:
    live = await tenant.config_map(name)
    assert live is not None
    uid: str = live["metadata"]["uid"]
    return uid


async def value_of(tenant: Tenant, name: str) -> dict[str, str] | None:
    live = await tenant.config_map(name)
    return live["data"] if live is not None else None


async def both(tenant: Tenant, *, cluster: str = "here", policy: dict[str, object] | None = None) -> None:
    """`old`, which has the objects hat and cap, and `new`, which waits for the hat."""
    await tenant.release("old", owns(tenant, "hat", "cap", by="old"), policy=PRUNE | (policy or {}))
    await tenant.applied("old")
    await tenant.release("new", owns(tenant, "hat", by="new"), policy=PRUNE, cluster=cluster)
    tree = await tenant.applied("new", "WaitingForOwner")
    assert (
        f"the Release {tenant.namespace}/old has ConfigMap {tenant.namespace}/hat"
        in applied_of(tree)["message"]
    )
    assert "lastAttempted" not in tree["status"], "no step of the sync has begun"
    assert await value_of(tenant, "hat") == {"by": "old"}


async def test_one_that_waits_takes_the_object_over_when_the_owner_drops_it(tenant: Tenant) -> None:
    await both(tenant)
    uid = await uid_of(tenant, "hat")
    await tenant.files("old", {"hat.yaml": None})
    tree = await tenant.applied("new")
    assert tree["status"]["lastAttempted"]["trigger"] == "OwnerChanged"
    assert await uid_of(tenant, "hat") == uid, "it moved and was not deleted"
    assert await value_of(tenant, "hat") == {"by": "new"}


async def test_one_that_waits_takes_the_object_over_when_the_owner_is_deleted_with_its_objects(
    tenant: Tenant,
) -> None:
    await both(tenant, policy={"onDelete": "Prune"})
    uid = await uid_of(tenant, "hat")
    await tenant.delete("old")
    await tenant.gone("old")
    await tenant.applied("new")
    assert await uid_of(tenant, "hat") == uid
    assert await tenant.config_map("cap") is None


async def test_one_that_no_longer_wants_the_object_does_not_wait_any_more(tenant: Tenant) -> None:
    await both(tenant)
    await tenant.files("new", owns(tenant, "coat", by="new") | {"hat.yaml": None})
    await tenant.applied("new")
    assert await value_of(tenant, "hat") == {"by": "old"}


async def test_two_clusters_that_are_one_api_server_are_one_place(tenant: Tenant) -> None:
    async with seen_target(tenant, "again") as seen:
        await both(tenant, cluster="again")
        assert seen.writes == []
        uid = await uid_of(tenant, "hat")
        await tenant.files("old", {"hat.yaml": None})
        await tenant.applied("new")
        assert await uid_of(tenant, "hat") == uid
        assert [write.method for write in seen.written("hat")] == ["PATCH"]


async def test_a_swap_does_not_deadlock(tenant: Tenant) -> None:
    for name, mine in (("left", "hat"), ("right", "cap")):
        await tenant.release(name, owns(tenant, mine, by=name), policy=PRUNE)
        await tenant.applied(name)
    uids = [await uid_of(tenant, name) for name in ("hat", "cap")]
    for name, mine, gone in (("left", "cap", "hat"), ("right", "hat", "cap")):
        await tenant.files(name, {f"{gone}.yaml": None, **owns(tenant, mine, by=name)})
    for name in ("left", "right"):
        await tenant.applied(name)
    assert [await value_of(tenant, name) for name in ("hat", "cap")] == [{"by": "right"}, {"by": "left"}]
    assert [await uid_of(tenant, name) for name in ("hat", "cap")] == uids
