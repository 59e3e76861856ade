"""Writing what is known of a render's health: the inventory's status, the condition Healthy, and the word to Sync.

The order makes a crash harmless. A /sync request that is due is written first: if the process dies before the health
data is, the next attempt finds the same and asks once more, which costs a reconcile and loses nothing. And both are
there before the signal, so that one reconcile sees both.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from activities.context import this_release
from activities.own_release import read_release
from activities.rollouts import rollout_of
from activities.services import Services
from activities.siblings import cut
from convoy.api.names import HEALTH_REQUESTED_AT, MANAGER_HEALTH, MANAGER_OBSERVE
from convoy.api.objects import Manifest
from convoy.health.assessment import RenderHealth
from convoy.health.rollout import is_rolled_back
from convoy.health.status import (
    health_of,
    healthy_status,
    next_health,
    observed_generation,
    reaches,
    unhealthy,
    verdict,
)
from convoy.kube.annotate import request_sync
from convoy.kube.errors import NotFound
from convoy.kube.resources import INVENTORIES, RELEASES
from convoy.kube.retry import with_retries
from convoy.kube.status import write_status
from convoy.policy.trigger import Trigger, health_digest
from convoy.sync.ledger import is_of
from convoy.sync.release_status import attempted_ref
from workflows.contract import SyncRequest


@dataclass(frozen=True, slots=True)
class Reported:
    """What is written now."""

    release: Manifest
    """The Release after it."""
    digest: str
    """Of the health data, as `status.handled.health` holds it."""
    healthy_at: str
    """When the render was healthy for the first time; empty where it never was."""


async def report_health(
    services: Services,
    tree: Manifest,
    health: RenderHealth,
    *,
    awaited: bool = False,
    details: bool = True,
) -> None:
    """Write the health of the render that was reconciled last, and ask for a sync where something waits for it.

    A render that becomes healthy for the first time is worth a /sync request (`reference/sync-policy`); for one that
    was rolled back a request would bring the last healthy one back unasked (manual mode). `awaited`: a sync waits at a
    gate for what is healthy now, and how often it was so before does not matter to it. `details`: as `write_health` has
    it.

    Raises:
        NotFound: the Release or its inventory is gone.
        ApiError: it cannot be written.
    """
    inventory = await read_inventory(services, tree)
    due = awaited or reaches(health_of(inventory), health)
    if not due or is_rolled_back(rollout_of(tree), health.render_ref):
        await write_health(services, tree, inventory, health, details=details)
        return
    uid = tree["metadata"]["uid"]
    request = await _request_sync(services, uid)
    tree = await read_release(services.home, uid)
    await write_health(services, tree, inventory, health, details=details)
    await services.signals.sync(this_release(), request)


async def ask_for_sync(services: Services, uid: str) -> None:
    """Ask for a sync as the health loop does: a batch of hooks is done. Raises as `request_sync`."""
    await services.signals.sync(this_release(), await _request_sync(services, uid))


async def read_inventory(services: Services, tree: Manifest) -> Manifest:
    """Return the inventory of the Release `tree`; raises `NotFound` where it is gone, or that of another one by UID."""
    namespace, name = tree["metadata"]["namespace"], tree["metadata"]["name"]
    inventory = await with_retries(lambda: services.home.get(INVENTORIES, namespace, name))
    if not is_of(inventory, cut(tree)):
        raise NotFound(f"{INVENTORIES.key(namespace, name)} is that of an earlier Release")
    return inventory


async def write_health(
    services: Services,
    tree: Manifest,
    inventory: Manifest,
    health: RenderHealth,
    *,
    generation: int | None = None,
    details: bool = True,
) -> Reported:
    """Write the health of a render of the Release `tree`, where it says something new.

    `generation` is that of the spec whose render it is; None: the one that was reconciled last. `details`: also write
    where the verdict is the same and only the objects changed that are not healthy yet.

    Raises:
        NotFound, UidMismatch: the Release or its inventory is gone.
        ApiError: it cannot be written.
    """
    namespace, name, now = tree["metadata"]["namespace"], tree["metadata"]["name"], datetime.now(UTC)

    known_ref = health_of(inventory).get("renderRef")

    def of_inventory(latest: Manifest) -> Manifest | None:
        if health_of(latest).get("renderRef") not in (known_ref, health.render_ref):
            return None  # a sync has written the health of a newer render meanwhile
        before, after = health_of(latest), next_health(health_of(latest), health, now=now)
        same = verdict(before) == verdict(after)
        return None if same and (not details or unhealthy(before) == unhealthy(after)) else {"health": after}

    inventory = await write_status(
        services.home,
        INVENTORIES,
        namespace,
        name,
        manager=MANAGER_OBSERVE,
        build=of_inventory,
        known=inventory,
    )

    def of_release(latest: Manifest) -> Manifest | None:
        if attempted_ref(latest) != attempted_ref(tree):
            return None  # a sync of another render has begun since
        about = observed_generation(latest) if generation is None else generation
        return healthy_status(latest, health, generation=about, now=now)

    tree = await write_status(
        services.home, RELEASES, namespace, name, manager=MANAGER_HEALTH, build=of_release, known=tree
    )
    return Reported(tree, health_digest(inventory), health_of(inventory).get("healthyAt") or "")


async def _request_sync(services: Services, uid: str) -> SyncRequest:
    """Write the request on the Release, and return it as the Sync workflow is told of it."""
    name, now = this_release(), datetime.now(UTC)
    requested = await request_sync(
        services.home, name.namespace, name.name, now=now, by=HEALTH_REQUESTED_AT, uid=uid
    )
    return SyncRequest(trigger=Trigger.HEALTH_REACHED, uid=uid, id=requested)
