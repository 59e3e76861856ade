"""Event → drift passes (`reference/drift`, When the observer checks): the page's triggers and none other.

The resync is an hour and every wait here is shorter: what comes about, an event has brought about.
"""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable

from convoy.api.names import SYNC_REQUESTED_AT
from convoy.kube.resources import CLUSTERS, CONFIG_MAPS, INVENTORIES, RELEASES
from tests.e2e.drift_passes import Pass, drift_passes, heals, observed, until_passes
from tests.e2e.harness.convoy import Convoy, condition_of
from tests.e2e.tenant import Tenant, config_map
from workflows.contract import Activity, Cause, ReleaseId, Verdict

Event = Callable[[Tenant, str], Awaitable[object]]


async def change_on_the_cluster(tenant: Tenant, name: str) -> None:
    await tenant.home.patch(CONFIG_MAPS, tenant.namespace, name, {"data": {"v": "by hand"}}, manager="hand")


async def status_write(tenant: Tenant, name: str) -> None:
    patch = {"status": {"lastHandledSyncAt": "2026-01-01T00:00:00Z"}}
    await tenant.home.patch(
        RELEASES, tenant.namespace, name, patch, subresource="status", manager="convoy-health"
    )


async def sync_to_its_end(tenant: Tenant, name: str) -> None:
    await tenant.sync(name)
    await tenant.applied(name)


async def forced_sync_to_its_end(tenant: Tenant, name: str) -> None:
    await tenant.sync(name, force=True)
    await tenant.applied(name)


EVENTS: list[tuple[str, Event]] = [
    ("a /sync request", sync_to_its_end),
    ("a forced /sync request", forced_sync_to_its_end),
    ("a change on the cluster", change_on_the_cluster),
    ("a status write", status_write),
    ("a label", lambda tenant, name: tenant.patch(name, {"metadata": {"labels": {"a": "b"}}})),
    (
        "an annotation",
        lambda tenant, name: tenant.patch(name, {"metadata": {"annotations": {"example.org/a": "b"}}}),
    ),
    (
        "a label of the inventory",
        lambda tenant, name: tenant.home.patch(
            INVENTORIES, tenant.namespace, name, {"metadata": {"labels": {"a": "b"}}}
        ),
    ),
    (
        "a change of the Cluster",
        lambda tenant, name: tenant.home.patch(
            CLUSTERS, tenant.namespace, "here", {"spec": {"maxInFlight": 9}}
        ),
    ),
]


async def test_nothing_but_the_pages_triggers_starts_a_pass(tenant: Tenant) -> None:
    names = {f"app-{number}": event for number, event in enumerate(EVENTS)}
    for name in (*names, "canary"):
        text = config_map(name, tenant.namespace, v="1")
        await tenant.release(name, {"a.yaml": text})
    for name in names:
        await tenant.applied(name)
        await observed(tenant, name)
    flush = flusher(tenant)
    await flush()
    before = {name: len(await drift_passes(tenant, name)) for name in names}
    for name, (_, happen) in names.items():
        await happen(tenant, name)
    await flush()
    started = {
        event: len(await drift_passes(tenant, name)) - before[name] for name, (event, _) in names.items()
    }
    assert started == {event: 0 for event, _ in EVENTS}


async def test_creation_spec_and_a_different_render_start_passes(tenant: Tenant) -> None:
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace, v="1")})
    await tenant.applied("app")
    await observed(tenant, "app")
    first = await drift_passes(tenant, "app")
    # At the end of the first sync, for creation and the new render at once.
    assert [one.cause for one in first] == [Cause.CREATED]
    await tenant.in_sync("app")

    # The render stays as it is: the change of the spec alone starts exactly one.
    await tenant.patch("app", {"spec": {"historyLimit": 3}})
    tree = await tenant.until(
        "app",
        lambda tree: condition_of(tree, "InSync").get("observedGeneration") == tree["metadata"]["generation"],
    )
    assert condition_of(tree, "InSync")["reason"] == "InSync"
    # The condition is written inside the pass: its end shows in the history a moment later.
    more = (await until_passes(tenant, "app", lambda found: len(found) > len(first)))[len(first) :]
    assert [one.cause for one in more] == [Cause.SPEC_CHANGED]


async def test_the_observer_learns_of_a_render_that_a_sync_request_applied(tenant: Tenant) -> None:
    await tenant.release(
        "app",
        {"a.yaml": config_map("a", tenant.namespace, v="1")},
        policy={"automatic": False},
    )
    await tenant.in_sync("app", "Drifted")
    await tenant.sync("app")
    await tenant.in_sync("app", "InSync")
    await until_passes(tenant, "app", lambda found: Cause.INVENTORY_CHANGED in {one.cause for one in found})


async def test_a_change_on_the_cluster_shows_at_the_pass_after_the_interval(tenant: Tenant) -> None:
    await tenant.release(
        "app",
        {"a.yaml": config_map("app", tenant.namespace, v="1")},
        policy={"automatic": False, "interval": "2s"},
    )
    await tenant.applied("app", "WaitingForSync")
    await tenant.sync("app")
    await observed(tenant, "app")
    await change_on_the_cluster(tenant, "app")
    await tenant.in_sync("app", "Drifted")
    seen = Pass(Cause.TICK, Verdict.DRIFTED, (f"ConfigMap {tenant.namespace}/app: /data/v",))
    await until_passes(tenant, "app", lambda found: seen in found)


async def test_a_tick_makes_the_pass_first_and_asks_for_the_reconcile_after_it(tenant: Tenant) -> None:
    text = config_map("app", tenant.namespace, v="1")
    await tenant.release("app", {"a.yaml": text}, policy={"interval": "2s"})
    await until_passes(tenant, "app", lambda found: [one.cause for one in found].count(Cause.TICK) >= 3)
    steps = await tenant.steps("app", "drift")
    asked = [index for index, step in enumerate(steps) if step == Activity.ASK_SYNC]
    assert len(asked) >= 2
    # The other way round drift would be healed before anybody has seen it (D35).
    assert {steps[index - 1] for index in asked} == {Activity.DRIFT_PASS}


async def test_the_tick_is_the_shorter_of_interval_and_resync(convoy: Convoy, tenant: Tenant) -> None:
    for name, policy in (("plain", {}), ("short", {"interval": "45s"}), ("long", {"interval": "2h"})):
        text = config_map(name, tenant.namespace)
        await tenant.release(name, {"a.yaml": text}, policy=policy)
    ticks = {
        name: (await convoy.check(ReleaseId(tenant.namespace, name))).tick
        for name in ("plain", "short", "long")
    }
    assert ticks == {"plain": 3600.0, "short": 45.0, "long": 3600.0}


async def test_a_release_that_is_being_deleted_is_skipped(convoy: Convoy, tenant: Tenant) -> None:
    release = ReleaseId(tenant.namespace, "app")
    await tenant.release("app", {"a.yaml": config_map("app", tenant.namespace, v="1")})
    await tenant.applied("app")
    await tenant.in_sync("app")
    await tenant.patch("app", {"metadata": {"finalizers": ["example.org/hold", *(await finalizers(tenant))]}})
    await tenant.delete("app")
    await change_on_the_cluster(tenant, "app")
    before = condition_of(await tenant.get("app"), "InSync")
    report = await convoy.check(release)
    assert (report.verdict, report.compared, report.heal) == (Verdict.SKIPPED, 0, False)
    assert condition_of(await tenant.get("app"), "InSync") == before
    assert await heals(tenant, "app") == 0
    assert SYNC_REQUESTED_AT not in ((await tenant.get("app"))["metadata"].get("annotations") or {})
    await tenant.patch("app", {"metadata": {"finalizers": None}})


async def finalizers(tenant: Tenant) -> list[str]:
    found: list[str] = (await tenant.get("app"))["metadata"].get("finalizers") or []
    return found


def flusher(tenant: Tenant) -> Callable[[], Awaitable[None]]:
    """Return what waits until the watcher and the observer have dealt with everything that has happened so far."""
    numbers = itertools.count()

    async def flush() -> None:
        for _ in range(2):
            number = str(next(numbers))
            await tenant.files("canary", {"a.yaml": config_map("canary", tenant.namespace, number=number)})
            await tenant.applied("canary")
            await tenant.until(
                "canary",
                lambda tree: (
                    condition_of(tree, "InSync").get("observedGeneration") == tree["metadata"]["generation"]
                ),
            )

    return flush
