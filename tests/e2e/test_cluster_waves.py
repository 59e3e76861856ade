"""Releases of one Cluster go in the order of their cluster waves, and a hold ends by event.

The resync is an hour and every wait here is shorter: a hold that ends was ended by an event.
"""

from __future__ import annotations

from tests.e2e.tenant import Tenant, applied_of, config_map

MANUAL = {"automatic": False}


async def two(tenant: Tenant) -> None:
    """`low`, which waits for a /sync, and `high` behind it."""
    await tenant.release("low", {"a.yaml": config_map("low", tenant.namespace)}, policy=MANUAL, clusterWave=1)
    await tenant.applied("low", "WaitingForSync")
    await tenant.release("high", {"a.yaml": config_map("high", tenant.namespace)}, clusterWave=2)
    tree = await tenant.applied("high", "WaitingForClusterWave")
    assert f"{tenant.namespace}/low" in applied_of(tree)["message"]
    assert await tenant.config_map("high") is None


async def test_a_higher_release_holds_until_the_lower_one_is_applied(tenant: Tenant) -> None:
    await two(tenant)
    await tenant.sync("low")
    tree = await tenant.applied("high")
    assert tree["status"]["lastAttempted"]["trigger"] == "LowerWaveChanged"
    assert "lastAttempted" in (await tenant.get("low"))["status"]


async def test_a_hold_ends_when_the_lower_release_is_deleted(tenant: Tenant) -> None:
    await two(tenant)
    await tenant.delete("low")
    await tenant.gone("low")
    await tenant.applied("high")


async def test_a_lower_release_suspended_before_it_was_applied_is_named_with_what_to_do(
    tenant: Tenant,
) -> None:
    await two(tenant)
    await tenant.patch("low", {"spec": {"suspend": True}})
    await tenant.applied("low", "Suspended")
    await tenant.sync("high")  # Applied is False as before, so the suspension starts no reconcile
    tree = await tenant.until(
        "high", lambda tree: "suspended" in applied_of(tree).get("message", ""), "a hold that tells of it"
    )
    assert applied_of(tree)["reason"] == "WaitingForClusterWave"
    assert "resume" in applied_of(tree)["message"]


async def test_a_change_of_both_is_applied_to_the_lower_one_first(tenant: Tenant) -> None:
    for name, wave in (("low", 1), ("high", 2)):
        await tenant.release(name, {"a.yaml": config_map(name, tenant.namespace, v="1")}, clusterWave=wave)
        await tenant.applied(name)
    for name in ("high", "low"):
        await tenant.files(name, {"a.yaml": config_map(name, tenant.namespace, v="2")})
    live = {}
    for name in ("high", "low"):
        await tenant.applied(name)
        live[name] = await tenant.config_map(name)
    low, high = live["low"], live["high"]
    assert low is not None
    assert high is not None
    assert (low["data"], high["data"]) == ({"v": "2"}, {"v": "2"})


async def test_waves_count_within_one_cluster_only(tenant: Tenant) -> None:
    await tenant.cluster("elsewhere", {"inCluster": {}})
    await tenant.release("low", {"a.yaml": config_map("low", tenant.namespace)}, policy=MANUAL, clusterWave=1)
    await tenant.applied("low", "WaitingForSync")
    await tenant.release(
        "high", {"a.yaml": config_map("high", tenant.namespace)}, clusterWave=2, cluster="elsewhere"
    )
    await tenant.applied("high")
