"""The health of what a sync has just applied, looked at once, by the sync itself.

Most renders are healthy at once, or their objects have no health at all (ConfigMaps, roles): then the sync says so and
nothing follows, no Health workflow and no reconcile for news that the sync already knows. Only what is not healthy yet
is handed over to be watched.
"""

from __future__ import annotations

from dataclasses import dataclass

import structlog

from activities.context import this_release
from activities.health_status import read_inventory, write_health
from activities.services import Services
from convoy.api.errors import ConvoyError
from convoy.api.objects import Manifest
from convoy.api.release import Release
from convoy.health.assessment import Assessment, RenderHealth
from convoy.health.checks import health_checks
from convoy.health.look import look, open_assessment
from convoy.health.phase import Phase
from convoy.kube.errors import ApiError
from convoy.store.renders import RenderMissing
from workflows.contract import Plan, Watch

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Assessed:
    """What a sync knows of the health of what it applied."""

    release: Manifest
    """The Release after what was written."""
    digest: str = ""
    """For `status.handled.health`; empty where nothing is known."""
    healthy_at: str = ""
    """When the render was healthy for the first time; empty where it was not yet."""
    watch: Watch | None = None
    """What is left to watch."""


async def assess(services: Services, tree: Manifest, plan: Plan, *, changed: bool) -> Assessed:
    """Look at what was applied and write its health, unless nothing changed and it is known to be healthy.

    Where it cannot be looked at it is left to be watched: the sync itself has succeeded. Its health is unknown then,
    and written so: what is known is that of what was applied before.

    Raises `ApiError` where convoy's own API server does not answer.
    """
    name = this_release()
    known = services.ownership.health(name.namespace, name.name)
    if not changed and (known.render_ref, known.phase) == (plan.render_ref, Phase.HEALTHY):
        return Assessed(tree)
    watch = Watch(plan.uid, plan.render_ref)
    try:
        health = await look_at_applied(services, Release.read(tree), plan.render_ref)
    except (ConvoyError, ApiError, RenderMissing) as error:
        log.warning("health-not-looked-at", release=str(name), error=str(error))
        if not changed and known.render_ref == plan.render_ref:
            return Assessed(tree, watch=watch)
        health = RenderHealth(
            plan.render_ref, (), unknown=f"what was applied cannot be looked at yet: {error}"
        )
    try:
        inventory = await read_inventory(services, tree)
        written = await write_health(services, tree, inventory, health, generation=plan.generation)
    except ApiError as error:
        if error.is_retryable:
            raise  # else the good health of what was applied before would make the Release Ready
        return Assessed(tree, watch=watch)
    moves = health.phase not in (Phase.HEALTHY, Phase.DEGRADED)
    return Assessed(written.release, written.digest, written.healthy_at, watch if moves else None)


async def look_at_applied(
    services: Services, release: Release, render_ref: str, assessment: Assessment | None = None
) -> RenderHealth:
    """Return the health of a render that was applied; of an `assessment` only what nobody has seen yet is read.

    Raises:
        ConvoyError, ApiError: the target cannot be asked, or a check of the Release is wrong.
        RenderMissing: the render is gone from the working store.
    """
    target = (await services.desired.destination(release)).target
    if assessment is None:
        render = await services.renders.load(release.metadata.uid, render_ref)
        checks = health_checks(release.spec.health_checks)
        assessment = await open_assessment(target, render, checks=checks)
    await look(target, assessment, assessment.to_see())
    return assessment.health()
