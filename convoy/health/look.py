"""Reading the live objects of a render for an assessment: side by side, within the cluster's limit."""

from __future__ import annotations

from collections.abc import Sequence

from convoy.api.objects import Manifest
from convoy.api.rendered import Render, RenderedObject
from convoy.health.assessment import Assessment, has_claims, late_classes
from convoy.health.checks import HealthChecks
from convoy.health.phase import ObjectHealth, Phase, degraded
from convoy.kube.errors import ApiError, KindUnknown, NotFound, TooManyRequests, Unreachable
from convoy.kube.resources import STORAGE_CLASSES, Resource
from convoy.kube.retry import with_retries
from convoy.kube.targets import Target
from convoy.sync.pool import run_pool
from convoy.sync.send import ask_about


async def open_assessment(
    target: Target, render: Render, *, checks: HealthChecks, applied: int | None = None
) -> Assessment:
    """Begin an assessment; the storage classes are asked for only where there is a claim. `applied`: waves."""
    late: frozenset[str] = frozenset()
    if has_claims(render.objects):
        try:
            late = late_classes(await with_retries(lambda: target.client.list(STORAGE_CLASSES)))
        except ApiError:
            # Not readable for this identity: such a claim then counts as not bound yet, and says so.
            late = frozenset()
    return Assessment(render, checks=checks, late_classes=late, applied=applied)


async def look(target: Target, assessment: Assessment, items: Sequence[RenderedObject]) -> None:
    """Read objects and judge them.

    An object that cannot be read is Unknown, with the reason.

    Raises:
        Unreachable, TooManyRequests: the cluster does not answer, so nothing is known.
    """

    async def read(item: RenderedObject) -> None:
        async def get(resource: Resource) -> Manifest:
            return await target.client.get(resource, item.key.namespace, item.key.name)

        try:
            live = await with_retries(lambda: ask_about(target, item, get))
        except NotFound:
            await assessment.see(item.key, None)
        except KindUnknown:
            assessment.note(item.key, degraded("the cluster no longer knows its kind"))
        except (Unreachable, TooManyRequests):
            raise
        except ApiError as error:
            assessment.note(item.key, ObjectHealth(Phase.UNKNOWN, f"cannot be read: {error.message}"))
        else:
            await assessment.see(item.key, live)

    await run_pool(items, read, at_once=target.client.limits.max_in_flight)
