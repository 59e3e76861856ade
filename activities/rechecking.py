"""The slow look at health: at each drift pass, from the live objects that the pass has read anyway.

The Health workflow is open only while something moves. What breaks later, without a sync, is found here.
"""

from __future__ import annotations

import structlog

from activities.assessing import look_at_applied
from activities.health_status import report_health
from activities.own_release import read_release
from activities.services import Services
from activities.watching import is_latest
from convoy.api.errors import ConvoyError
from convoy.api.objects import Manifest
from convoy.api.release import Release
from convoy.api.rendered import Render
from convoy.health.assessment import Assessment
from convoy.health.checks import health_checks
from convoy.health.look import open_assessment
from convoy.health.phase import Phase
from convoy.health.status import says_already
from convoy.kube.errors import ApiError
from convoy.kube.targets import Target
from convoy.store.renders import RenderMissing
from convoy.sync.release_status import attempted_ref
from workflows.contract import ReleaseId, Watch

log = structlog.get_logger(__name__)


async def begin_recheck(release: Release, target: Target, render: Render) -> Assessment | None:
    """Return what takes the live objects of a pass; None where the pass compares another render than is applied."""
    if render.ref != release.status.applied_render_ref:
        return None
    return await open_assessment(target, render, checks=health_checks(release.spec.health_checks))


async def recheck(services: Services, tree: Manifest, assessment: Assessment | None) -> None:
    """Write the health of the applied render, and have it watched where it moves.

    Nothing is said about a Release that is applying another render, nor where the cluster does not answer: the
    condition InSync and the Cluster say that.
    """
    release = Release.read(tree)
    metadata, ref = release.metadata, release.status.applied_render_ref
    known = services.ownership.health(metadata.namespace, metadata.name)
    if not ref or known.render_ref not in ("", ref):
        return
    try:
        health = await look_at_applied(services, release, ref, assessment)
        if (known.render_ref, known.phase) == (ref, health.phase) and says_already(tree, health):
            return
        latest = await read_release(services.home, metadata.uid)
        if attempted_ref(latest) != attempted_ref(tree):
            return  # a sync of another render has begun since the pass read the Release
        await report_health(services, latest, health)
    except (ConvoyError, ApiError, RenderMissing) as error:
        log.warning("health-not-looked-at", release=f"{metadata.namespace}/{metadata.name}", error=str(error))
        return
    watch = Watch(metadata.uid, ref)
    if health.phase is Phase.PROGRESSING and is_latest(release, watch):
        await services.signals.watch(ReleaseId(metadata.namespace, metadata.name), watch)
