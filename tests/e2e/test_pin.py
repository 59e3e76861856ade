"""A pinned Release stays on a stored render: sync and drift pass follow the pin (`reference/drift`, D40)."""

from __future__ import annotations

import asyncio

from convoy.api.objects import Manifest, ObjectKey
from convoy.kube.resources import CONFIG_MAPS
from tests.e2e.harness.convoy import Convoy
from tests.e2e.tenant import Tenant, applied_of, config_map
from workflows.contract import ReleaseId

PRUNE = {"prune": {"orphaned": True}}
UNKNOWN = f"sha256:{'0' * 64}"


async def two_renders(tenant: Tenant, name: str = "app", **options: object) -> tuple[str, str]:
    """Apply a render with the object `old`, then one with `new`; returns both refs."""
    files = {
        "a.yaml": config_map("a", tenant.namespace, v="1"),
        "old.yaml": config_map("old", tenant.namespace),
    }
    await tenant.release(name, files, **options)  # type: ignore[arg-type]
    first = successful(await tenant.applied(name))
    text = config_map("a", tenant.namespace, v="2")
    await tenant.files(
        name, {"a.yaml": text, "old.yaml": None, "new.yaml": config_map("new", tenant.namespace)}
    )
    return first, successful(await tenant.applied(name))


def successful(tree: Manifest) -> str:
    ref: str = tree["status"]["lastSuccessful"]["renderRef"]
    return ref


def history(tree: Manifest) -> list[str]:
    return [entry["renderRef"] for entry in tree["status"]["history"]]


async def pin(tenant: Tenant, ref: str | None, reason: str = "Applied", name: str = "app") -> Manifest:
    """Pin or unpin and ask for a sync, as a write to /pin does; a pin alone starts no reconcile."""
    await tenant.patch(name, {"pin": {"renderRef": ref} if ref else None})
    await tenant.sync(name)
    return await tenant.applied(name, reason)


async def value(tenant: Tenant) -> str:
    live = await tenant.config_map("a")
    return str(live["data"]["v"]) if live is not None else ""


async def test_a_pinned_older_render_is_applied_and_pruned_by_the_same_rules(tenant: Tenant) -> None:
    first, second = await two_renders(tenant, policy=PRUNE)

    tree = await pin(tenant, first)

    assert history(tree) == [first, second, first]
    assert successful(tree) == first
    assert await value(tenant) == "1"
    assert await tenant.config_map("old") is not None
    assert await tenant.config_map("new") is None


async def test_a_drift_pass_compares_with_the_pinned_render(convoy: Convoy, tenant: Tenant) -> None:
    first, _ = await two_renders(tenant)
    await pin(tenant, first)
    release = ReleaseId(tenant.namespace, "app")

    assert (await convoy.check(release)).verdict == "InSync"

    await tenant.patch("app", {"spec": {"suspend": True}})  # so that nothing heals
    await tenant.applied("app", "Suspended")
    key = ObjectKey("", "ConfigMap", tenant.namespace, "a")
    await convoy.objects.patch(key, {"data": {"v": "2"}}, manager="somebody")
    report = await convoy.check(release)
    assert report.drifted == (f"ConfigMap {tenant.namespace}/a: /data/v",)


async def test_a_newer_source_does_not_move_a_pinned_release(tenant: Tenant) -> None:
    first, _ = await two_renders(tenant)
    await pin(tenant, first)

    await tenant.files("app", {"a.yaml": "this is no manifest: ["})
    tree = await tenant.applied("app")

    assert successful(tree) == first
    assert await value(tenant) == "1"


async def test_without_the_pin_the_fresh_render_comes_back(tenant: Tenant) -> None:
    first, second = await two_renders(tenant, policy=PRUNE)
    await pin(tenant, first)

    tree = await pin(tenant, None)

    assert history(tree) == [second, first, second, first]
    assert await value(tenant) == "2"
    assert await tenant.config_map("old") is None


async def test_the_history_is_as_long_as_the_release_wants_it(tenant: Tenant) -> None:
    first, second = await two_renders(tenant, historyLimit=2)

    assert history(await pin(tenant, first)) == [first, second]


async def test_a_render_of_another_release_is_no_render_of_this_one(tenant: Tenant) -> None:
    mine, latest = await two_renders(tenant)
    other = {"a.yaml": config_map("other", tenant.namespace)}
    await tenant.release("other", other)
    theirs = successful(await tenant.applied("other"))

    tree = await pin(tenant, theirs, "Pinned")

    message = applied_of(tree)["message"]
    assert f"no render {theirs} of this Release" in message
    assert mine in message, "a render that could be pinned"
    assert successful(tree) == latest
    assert await value(tenant) == "2"


async def test_with_a_pin_that_is_gone_nothing_is_applied_and_drift_looks_at_the_fresh_render(
    convoy: Convoy, tenant: Tenant
) -> None:
    await two_renders(tenant)
    await pin(tenant, UNKNOWN, "Pinned")
    await tenant.home.delete(CONFIG_MAPS, tenant.namespace, "a")

    report = await convoy.check(ReleaseId(tenant.namespace, "app"))
    assert (report.verdict, report.missing) == ("Drifted", 1)

    await tenant.sync("app")
    await tenant.applied("app", "Pinned")
    assert await tenant.config_map("a") is None


async def test_in_manual_mode_a_tick_leaves_the_missing_pin_on_the_release(tenant: Tenant) -> None:
    manual = {"automatic": False, "interval": "1s"}
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace)}, policy=manual)
    await tenant.patch("app", {"pin": {"renderRef": UNKNOWN}})
    await tenant.sync("app")
    await tenant.applied("app", "Pinned")

    passes = await tenant.passes("app")
    async with asyncio.timeout(tenant.patience):
        while await tenant.passes("app") < passes + 2:
            assert applied_of(await tenant.get("app"))["reason"] == "Pinned"
