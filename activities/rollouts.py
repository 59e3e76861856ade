"""The rollout of a Release, as a pass sees it (D28): what the observer and the render store say, and who is told."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from activities.services import Services
from convoy.api.common import condition_of
from convoy.api.errors import Suspended, WaitingForApproval, WaitingForPrune
from convoy.api.inventory import ReleaseInventory
from convoy.api.names import APPLIED
from convoy.api.objects import Manifest
from convoy.api.release import Release
from convoy.api.release_status import Rollout
from convoy.api.rendered import brief_ref
from convoy.health.observed import (
    applied_since,
    healthy_render,
    last_healthy_render,
    revisions_of,
    trouble_of,
)
from convoy.health.rollout import RolloutPhase, Seen, deadline, next_rollout
from convoy.kube.errors import NotFound
from convoy.kube.resources import INVENTORIES
from convoy.kube.retry import with_retries
from convoy.sync.desired import Desired
from convoy.sync.desired_order import Origin

_FOR_A_PERSON: Final = {Suspended.reason, WaitingForApproval.reason, WaitingForPrune.reason}
"""Reasons of Applied that only a person ends."""

_AGAIN: Final = timedelta(seconds=5)
"""From a pass that did not judge a rollout whose time is up to the next one."""

_EVENTS: Final[dict[str, tuple[str, Literal["Normal", "Warning"]]]] = {
    RolloutPhase.HEALTHY: ("RolloutHealthy", "Normal"),
    RolloutPhase.FAILED: ("RolloutFailed", "Warning"),
    RolloutPhase.ROLLED_BACK: ("RolledBack", "Warning"),
}


def is_watched(release: Release) -> bool:
    """Whether health data may change the rollout or the history of a Release."""
    newest = next(iter(release.status.renders), None)
    rollout = release.status.rollout
    open_ = rollout is not None and rollout.phase in (RolloutPhase.PROGRESSING, RolloutPhase.FAILED)
    return open_ or (newest is not None and not newest.healthy_at)


async def inventory_of(services: Services, release: Release) -> ReleaseInventory:
    """Return the inventory of a Release; an empty one where there is none yet."""
    metadata = release.metadata
    try:
        tree = await with_retries(lambda: services.home.get(INVENTORIES, metadata.namespace, metadata.name))
    except NotFound:
        return ReleaseInventory()
    return ReleaseInventory.read(tree)


async def rollout_now(
    services: Services, release: Release, inventory: ReleaseInventory, *, hook_failed: str = ""
) -> Rollout | None:
    """Return the rollout of a Release as its health, its time and a failed preSync hook leave it.

    Raises `DeployFailed` if the render store does not answer.
    """
    before = release.status.rollout
    ref = (before.render_ref if before is not None else None) or ""
    began = (before.started_at if before is not None else None) or ""
    healthy = healthy_render(inventory)
    return next_rollout(
        before,
        replace(
            _sight(release),
            # The good health of what an earlier sync applied says nothing about this one.
            healthy=healthy.since(began) if applied_since(release, healthy.ref, began) else "",
            trouble=trouble_of(release, inventory, ref),
            hook_failed=hook_failed,
            paused=waits_for_a_person(release),
            obstacle=await _obstacle(services, release),
        ),
    )


def rollout_of_a_sync(release: Release, desired: Desired, *, forced: bool) -> Rollout | None:
    """Return the rollout of a Release as a sync of what it desires begins."""
    if desired.origin is Origin.LAST_HEALTHY:
        return next_rollout(release.status.rollout, replace(_sight(release), fault=desired.fault))
    return next_rollout(
        release.status.rollout,
        replace(
            _sight(release),
            starting=desired.render.ref,
            forced=forced,
            last_healthy=last_healthy_render(release),
        ),
    )


def rollout_due(release: Release) -> datetime | None:
    """Return when the rollout of a Release has to be looked at again, if nothing happens before.

    Where its time is up already, this pass judged it a moment too early, or could not judge it (the store failed).
    """
    if release.spec.suspend or waits_for_a_person(release):
        return None
    due = deadline(release.status.rollout, release.spec.failure_policy)
    return max(due, datetime.now(UTC) + _AGAIN) if due is not None else None


def waits_for_a_person(release: Release) -> bool:
    """Whether the latest pass ended in a wait that only a person ends."""
    applied = condition_of(release.status.conditions, APPLIED)
    return applied is not None and applied.reason in _FOR_A_PERSON


async def tell_rollout(
    services: Services, tree: Manifest, before: Rollout | None, after: Rollout | None
) -> None:
    """Emit the event of a rollout that has reached another phase."""
    if after is None or after.phase not in _EVENTS or (before is not None and before.phase == after.phase):
        return
    reason, type_ = _EVENTS[after.phase]
    await services.events.emit(tree, reason=reason, note=after.message or "", type=type_, action="RollOut")


def rollout_of(tree: Manifest) -> Rollout | None:
    """Return the rollout in the status of a Release as the API server gave it."""
    rollout = (tree.get("status") or {}).get("rollout")
    return Rollout.model_validate(rollout) if rollout else None


def with_rollout(release: Release, rollout: Rollout | None) -> Release:
    """Return a Release with another rollout in its status."""
    status = release.status.model_copy(update={"rollout": rollout})
    return release.model_copy(update={"status": status})


def _sight(release: Release) -> Seen:
    return Seen(
        policy=release.spec.failure_policy,
        now=datetime.now(UTC),
        release=f"{release.metadata.name} -n {release.metadata.namespace}",
        revisions=revisions_of(release),
        pinned=release.pin is not None,
    )


async def _obstacle(services: Services, release: Release) -> str:
    """Return why the render store cannot give the last healthy render; empty where it can, or need not."""
    policy, rollout = release.spec.failure_policy, release.status.rollout
    ref = rollout.last_healthy_render_ref if rollout is not None else None
    if policy is None or policy.action != "Rollback" or not ref:
        return ""
    if rollout is None or rollout.phase != RolloutPhase.PROGRESSING:
        return ""
    if services.settings.render_store_url is None:
        return "this installation has no render store (--render-store-url)"
    if await services.renders.is_published(release.metadata.uid, ref):
        return ""
    return f"the render store has no sound render {brief_ref(ref)}"
