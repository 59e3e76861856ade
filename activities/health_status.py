"""Writing what is known of a render's health: the inventory's status, the condition Healthy, and the word to Sync.

The order makes a crash harmless. A /sync request that is due is written first: if the process dies before the health
data is, the next attempt finds the same and asks once more, which costs a reconcile and loses nothing. And both are
there before the signal, so that one reconcile sees both.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from activities.context import this_release
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
from workflows.contract import ReleaseId, SyncRequest


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
    generation: int | None = None,
    ask: bool = True,
    wave_done: bool = False,
    details: bool = True,
) -> Reported:
    """Write the health of a render of the Release `tree`, where it says something new and no other was attempted since.

    `generation` is that of the spec whose render it is; None: the one that was reconciled last. `ask`: a render that
    becomes healthy for the first time is worth a /sync request (`reference/sync-policy`); a sync that finds it itself
    needs none, and for one that was rolled back a request would bring the last healthy one back unasked (manual mode).
    `wave_done`: a sync waits for a wave that is healthy now. `details`: also write where the verdict is the same and
    only the objects changed that are not healthy yet.

    Raises:
        NotFound: the Release or its inventory is gone.
        ApiError: it cannot be written.
    """
    metadata = tree["metadata"]
    namespace, name, uid = metadata["namespace"], metadata["name"], metadata["uid"]
    now = datetime.now(UTC)
    inventory = await with_retries(lambda: services.home.get(INVENTORIES, namespace, name))
    if not is_of(inventory, cut(tree)):
        raise NotFound(f"{INVENTORIES.key(namespace, name)} is that of an earlier Release")
    requested = ""
    news = reaches(health_of(inventory), health) and not is_rolled_back(rollout_of(tree), health.render_ref)
    if ask and (wave_done or news):
        requested = await request_sync(
            services.home, namespace, name, now=now, by=HEALTH_REQUESTED_AT, uid=uid
        )

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
        if latest["metadata"]["uid"] != uid or attempted_ref(latest) != attempted_ref(tree):
            return None
        about = observed_generation(latest) if generation is None else generation
        return healthy_status(latest, health, generation=about, now=now)

    tree = await write_status(
        services.home,
        RELEASES,
        namespace,
        name,
        manager=MANAGER_HEALTH,
        build=of_release,
        known=None if requested else tree,
    )
    if requested:
        wish = SyncRequest(trigger=Trigger.HEALTH_REACHED, uid=uid, id=requested)
        await services.signals.sync(ReleaseId(namespace, name), wish)
    return Reported(tree, health_digest(inventory), health_of(inventory).get("healthyAt") or "")


async def ask_for_sync(services: Services, uid: str) -> None:
    """Ask for a sync as the health loop does: a batch of hooks is done. Raises as `request_sync`."""
    name = this_release()
    requested = await request_sync(
        services.home, name.namespace, name.name, now=datetime.now(UTC), by=HEALTH_REQUESTED_AT, uid=uid
    )
    await services.signals.sync(name, SyncRequest(trigger=Trigger.HEALTH_REACHED, uid=uid, id=requested))
