"""Event → reconciles started, 0 or 1 (`reference/sync-policy`, What starts a reconcile).

That an event started nothing shows when the watcher has dealt with later ones: it sees all events of Releases in the
server's order and lets a Release rest for a second at most. So another Release is synced twice after the events.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable

from convoy.api.names import SYNC_FORCE_REQUESTED_AT, SYNC_REQUESTED_AT
from convoy.kube.resources import CLUSTERS, INVENTORIES, RELEASES
from tests.e2e.held_git import held_git
from tests.e2e.tenant import Tenant, config_map

Event = Callable[[Tenant, str], Awaitable[object]]


async def status_write(tenant: Tenant, name: str) -> None:
    tree = await tenant.get(name)
    conditions = [
        condition | ({"message": "as a writer of status says"} if condition["type"] == "Healthy" else {})
        for condition in tree["status"]["conditions"]
    ]
    assert conditions != tree["status"]["conditions"]
    await tenant.home.patch(
        RELEASES,
        tenant.namespace,
        name,
        {"status": {"conditions": conditions}},
        subresource="status",
        manager="convoy-health",
    )


async def same_spec_again(tenant: Tenant, name: str) -> None:
    await tenant.patch(name, {"spec": (await tenant.get(name))["spec"]})


async def cluster_change(tenant: Tenant, name: str) -> None:
    await tenant.home.patch(CLUSTERS, tenant.namespace, "here", {"spec": {"maxInFlight": 7}})


async def inventory_label(tenant: Tenant, name: str) -> None:
    await tenant.home.patch(INVENTORIES, tenant.namespace, name, {"metadata": {"labels": {"a": "b"}}})


def annotate(key: str, value: str) -> Event:
    return lambda tenant, name: tenant.patch(name, {"metadata": {"annotations": {key: value}}})


EVENTS: list[tuple[str, Event, int]] = [
    ("a status write", status_write, 0),
    ("a label", lambda tenant, name: tenant.patch(name, {"metadata": {"labels": {"a": "b"}}}), 0),
    ("an annotation of somebody else's", annotate("example.org/a", "b"), 0),
    ("the /sync annotation", lambda tenant, name: tenant.sync(name), 1),
    ("the force annotation alone", annotate(SYNC_FORCE_REQUESTED_AT, "2026-01-01T00:00:00Z"), 0),
    ("a forced /sync, which writes two annotations", lambda tenant, name: tenant.sync(name, force=True), 1),
    ("a change of the spec", lambda tenant, name: tenant.patch(name, {"spec": {"historyLimit": 5}}), 1),
    (
        "a change of the policy",
        lambda tenant, name: tenant.patch(name, {"spec": {"syncPolicy": {"onDelete": "Prune"}}}),
        1,
    ),
    ("the same spec again", same_spec_again, 0),
    ("a change of the Cluster", cluster_change, 0),
    ("a change of the inventory's labels", inventory_label, 0),
    (
        "mutations through the main resource",
        lambda tenant, name: tenant.patch(
            name, {"mutations": [{"target": {"kind": "X"}, "image": {"name": "x", "newTag": "1"}}]}
        ),
        0,
    ),
    (
        "a lifecycle through the main resource",
        lambda tenant, name: tenant.patch(
            name, {"lifecycle": {"postSync": [{"name": "go", "approval": {}, "timeout": "1h"}]}}
        ),
        0,
    ),
]


async def test_each_event_starts_as_many_reconciles_as_the_page_says(tenant: Tenant) -> None:
    releases = {f"app-{number}": event for number, event in enumerate(EVENTS)}
    for name in (*releases, "canary"):
        await tenant.release(name, {"a.yaml": config_map(name, tenant.namespace)})
    for name in releases:
        await tenant.applied(name)
    flush = flusher(tenant)
    await flush()
    assert {await tenant.passes(name) for name in releases} == {1}, "their creation"
    for name, (_, happen, _) in releases.items():
        await happen(tenant, name)
    await flush()
    started = {event: await tenant.passes(name) - 1 for name, (event, _, _) in releases.items()}
    assert started == {event: expected for event, _, expected in EVENTS}


async def test_a_burst_of_events_while_a_reconcile_runs_gives_exactly_one_more(tenant: Tenant) -> None:
    await tenant.release("canary", {"a.yaml": config_map("canary", tenant.namespace)})
    await tenant.applied("canary")
    async with held_git() as (url, arrived, let_go):
        await tenant.release(
            "app",
            source={"git": {"url": url}},
            policy={"retryBackoff": {"initial": "1h"}},
        )
        async with asyncio.timeout(60):
            await arrived.wait()
        for second in range(100):
            time = f"2026-01-01T00:{second // 60:02}:{second % 60:02}Z"
            await annotate(SYNC_REQUESTED_AT, time)(tenant, "app")
        await flusher(tenant)()
        let_go.set()
        await tenant.applied("app", "SourceNotReady")
        await flusher(tenant)()
    assert await tenant.passes("app") == 2


def flusher(tenant: Tenant) -> Callable[[], Awaitable[None]]:
    """Return what waits until the watcher has dealt with everything that has happened so far."""
    numbers = itertools.count()

    async def flush() -> None:
        for _ in range(2):
            text = config_map("canary", tenant.namespace, number=str(next(numbers)))
            await tenant.files("canary", {"a.yaml": text})
            await tenant.applied("canary")

    return flush
