"""Watching what is not healthy yet: one activity for as long as a rollout moves.

It holds a slot of a worker of its own (`workers.worker`), of which there are thousands: a wait for Kubernetes must not
keep a sync from running. It keeps nothing that matters: another attempt reads everything anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from temporalio import activity

from activities.lease import Lease
from activities.own_release import read_release
from activities.services import Services
from activities.watching import WatchedRender, Watching, is_latest
from convoy.api.errors import ClusterNotReady, ConvoyError
from convoy.api.objects import ObjectKey
from convoy.api.release import Release
from convoy.api.rendered import RenderedObject
from convoy.health.checks import health_checks
from convoy.health.look import open_assessment
from convoy.kube.errors import ApiError, KindUnknown, NotFound, UidMismatch
from convoy.kube.resources import JOBS, Resource
from convoy.kube.targets import Target
from convoy.store.renders import RenderMissing
from convoy.sync.interruptions import Interrupted
from convoy.sync.send import resource_of
from workflows.contract import Activity, Observed, ObserveInput, Watch

PAUSE_SECONDS = 30
"""Between two attempts at a cluster that does not answer: thousands of Releases may have it as their target."""

OPEN_WITHIN = 10.0
"""Seconds that the watches get before the first look; without them it polls."""


class Observing:
    """The activity `observe-health`."""

    def __init__(self, services: Services) -> None:
        self._services = services

    @activity.defn(name=Activity.OBSERVE_HEALTH)
    async def observe_health(self, asked: ObserveInput) -> Observed:
        """Watch a render and hook Jobs; write what changes, and ask for a sync where one waits for it."""
        async with Lease() as lease:
            try:
                return await self._observe(asked, lease)
            except (NotFound, UidMismatch):
                return Observed(gone=True)
            except (ClusterNotReady, ApiError) as error:
                # A cluster does not answer: nothing is known, so nothing is settled.
                await _pause(lease)
                return Observed(phase="Unknown", message=error.message)
            except ConvoyError as error:
                # The spec is broken: the sync says so, and the next one that is not has it watched again.
                return Observed(
                    render_settled=True, jobs_settled=True, phase="Unknown", message=error.message
                )

    async def _observe(self, asked: ObserveInput, lease: Lease) -> Observed:
        uid = next(watch.uid for watch in (asked.render, asked.jobs) if watch is not None)
        release = Release.read(await read_release(self._services.home, uid))
        target = (await self._services.desired.destination(release)).target
        render: WatchedRender | None = None
        if asked.render is not None:
            render = await self._render(asked.render, release, target)
            if render is None:
                return Observed(render_settled=True, message="another render has taken its place")
        jobs = [_job(name) for name in asked.jobs.jobs] if asked.jobs is not None else []
        kinds = dict.fromkeys(jobs, JOBS) | await _kinds(target, render.items if render is not None else ())
        async with self._services.doorbells.listening(target.client, kinds) as bell:
            await bell.settled(timeout=OPEN_WITHIN)
            watching = Watching(self._services, uid, target, bell, lease, render=render, jobs=jobs)
            return await watching.run()

    async def _render(self, watch: Watch, release: Release, target: Target) -> WatchedRender | None:
        """Return what is to be watched; None where it is no longer that."""
        if not is_latest(release, watch):
            return None
        try:
            render = await self._services.renders.load(watch.uid, watch.render_ref)
        except RenderMissing:
            return None
        applied = watch.index + 1 if watch.index >= 0 else None
        checks = health_checks(release.spec.health_checks)
        return WatchedRender(watch, await open_assessment(target, render, checks=checks, applied=applied))


async def _pause(lease: Lease) -> None:
    """Wait a while before the next attempt; raises `Interrupted` where the worker stops."""
    for _ in range(PAUSE_SECONDS):
        if lease.should_stop():
            raise Interrupted("the watching goes on elsewhere")
        await asyncio.sleep(1.0)


async def _kinds(target: Target, items: Iterable[RenderedObject]) -> dict[ObjectKey, Resource]:
    """Return how the target serves each object; what it does not know is not there, and is only looked at."""
    found: dict[ObjectKey, Resource] = {}
    for item in items:
        try:
            found[item.key] = await resource_of(target, item)
        except KindUnknown:
            continue
    return found


def _job(name: str) -> ObjectKey:
    namespace, _, name = name.rpartition("/")
    return JOBS.key(namespace, name)
