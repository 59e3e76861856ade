"""The loop of one attempt to watch a render and hook Jobs: look, write what is new, wait for the next change."""

from __future__ import annotations

import time
from collections.abc import Sequence

from activities.context import this_release
from activities.health_status import ask_for_sync, report_health
from activities.lease import Lease
from activities.own_release import read_release
from activities.services import Services
from convoy.api.common import condition_of
from convoy.api.errors import WaitingForHealth, WaitingForWave
from convoy.api.names import APPLIED
from convoy.api.objects import Manifest, ObjectKey
from convoy.api.release import Release
from convoy.api.rendered import RenderedObject
from convoy.health.assessment import Assessment, RenderHealth
from convoy.health.look import look
from convoy.health.phase import Phase
from convoy.hooks.entries import read_entries
from convoy.hooks.job import end_of
from convoy.hooks.plan import hook_is_over
from convoy.kube.doorbell import Listener
from convoy.kube.errors import NotFound
from convoy.kube.resources import JOBS
from convoy.kube.retry import with_retries
from convoy.kube.targets import Target
from convoy.sync.interruptions import Interrupted
from workflows.contract import Observed, Watch

SLICE = 600.0
"""Seconds until an attempt that sees nothing settle ends: the next one reads a changed spec."""
GATHER = 0.1
"""Seconds that changes are gathered for before their objects are read."""
RELOOK = 300.0
"""Seconds between two reads of all that is not healthy, where every change rings: no rule depends on time."""
POLL = 2.0
"""The same where a kind cannot be watched; it grows with the wait to `MAX_POLL`."""
MAX_POLL = 10.0
TELL = 5.0
"""Seconds between two writes of the condition's message while the verdict stays."""
DETAILS = 30.0
"""Seconds between two writes of which objects are not healthy: each starts a reconcile."""
ASK_AGAIN = 30.0
"""Seconds between two looks whether a sync still waits for what has failed."""
GRACE = 60.0
"""Seconds in which the sync that waits for a failed wave must have said so on the Release."""

_WAITS = (WaitingForWave.reason, WaitingForHealth.reason)


class WatchedRender:
    """A render, or its first waves, and what is known about them so far."""

    def __init__(self, watch: Watch, assessment: Assessment) -> None:
        self.watch = watch
        self.assessment = assessment
        self.items = assessment.to_read()

    @property
    def health(self) -> RenderHealth:
        """Its health as of the latest look."""
        return self.assessment.health()

    @property
    def reached(self) -> bool:
        """Whether what is waited for is healthy."""
        index = self.watch.index
        health = self.health if index < 0 else self.assessment.wave(index)
        return health.phase is Phase.HEALTHY

    def due(self, rung: set[ObjectKey], *, unhealthy: bool) -> list[RenderedObject]:
        """Return what to read again: what has rung, and now and then whatever is not healthy."""
        keys = rung | self.assessment.unhealthy_keys() if unhealthy else rung
        return [item for item in self.items if item.key in keys]


class Watching:
    """One attempt."""

    def __init__(
        self,
        services: Services,
        uid: str,
        target: Target,
        bell: Listener,
        lease: Lease,
        *,
        render: WatchedRender | None,
        jobs: Sequence[ObjectKey],
    ) -> None:
        self._services = services
        self._uid = uid
        self._target = target
        self._bell = bell
        self._lease = lease
        self._render = render
        self._jobs = list(jobs)
        self._open_jobs = set(jobs)
        self._began = self._looked = self._detailed = time.monotonic()
        self._told = self._asked = 0.0
        self._said: tuple[object, ...] = ()
        self._message = ""

    async def run(self) -> Observed:
        """Watch until something is settled or the slice is over.

        Raises:
            Interrupted: the worker stops.
            NotFound: the Release is gone.
            ApiError: an API server does not answer.
        """
        rung, everything = set(self._jobs), True
        while True:
            await self._look(rung, everything=everything)
            if self._jobs and not self._open_jobs:
                await self._ask_where_a_result_is_lacking()
                return self._answer(jobs_settled=True)
            if await self._render_is_settled():
                return self._answer(render_settled=True)
            if self._age() > SLICE:
                return self._answer()
            name = this_release()
            if not self._services.siblings.is_there(name.namespace, name.name, self._uid):
                return Observed(gone=True)
            rung = await self._next_changes()
            everything = time.monotonic() - self._looked >= self._interval()

    async def _ask_where_a_result_is_lacking(self) -> None:
        """Ask for a sync that takes the results of the Jobs, unless one has taken them meanwhile."""
        tree = await read_release(self._services.home, self._uid)
        places = {f"{key.namespace}/{key.name}" for key in self._jobs}
        if any(entry.job in places and not hook_is_over(entry) for entry in read_entries(tree).values()):
            await ask_for_sync(self._services, self._uid)

    async def _look(self, rung: set[ObjectKey], *, everything: bool) -> None:
        render = self._render
        if everything:
            self._looked = time.monotonic()
        if render is not None:
            items = render.due(rung, unhealthy=everything) if self._said else render.items
            await look(self._target, render.assessment, items)
        for key in self._open_jobs if everything else self._open_jobs & rung:
            if await self._is_finished(key):
                self._open_jobs = self._open_jobs - {key}

    async def _is_finished(self, key: ObjectKey) -> bool:
        """Whether a Job has ended; one that is gone has, and its hook says what that means.

        By the words of the hook and not of its health: one that is done and being deleted (a TTL) is no less done.
        """
        try:
            live = await with_retries(lambda: self._target.client.get(JOBS, key.namespace, key.name))
        except NotFound:
            return True
        return end_of(live) is not None

    async def _render_is_settled(self) -> bool:
        """Write what is new; whether nothing is left to watch of the render."""
        render = self._render
        if render is None:
            return False
        failed = render.health.phase is Phase.DEGRADED
        asks_again = failed and time.monotonic() - self._asked >= ASK_AGAIN
        if not self._is_news(render.health) and not asks_again:
            return False
        self._asked = time.monotonic()
        tree = await read_release(self._services.home, self._uid)
        release = Release.read(tree)
        if not is_latest(release, render.watch):
            return True
        await self._report(tree, render)
        return render.reached or (failed and not self._is_waited_for(release, render.watch))

    def _is_news(self, health: RenderHealth) -> bool:
        says = (health.phase, *(wave.phase for wave in health.waves))
        return says != self._said or (
            health.message != self._message and time.monotonic() - self._told >= TELL
        )

    async def _report(self, tree: Manifest, render: WatchedRender) -> None:
        health, now = render.health, time.monotonic()
        details = now - self._detailed >= DETAILS
        awaited = render.watch.gate and render.reached
        await report_health(self._services, tree, health, awaited=awaited, details=details)
        self._said = (health.phase, *(wave.phase for wave in health.waves))
        self._message, self._told = health.message, now
        self._detailed = now if details else self._detailed

    def _is_waited_for(self, release: Release, watch: Watch) -> bool:
        applied = condition_of(release.status.conditions, APPLIED)
        waits = applied is not None and applied.reason in _WAITS
        return watch.gate and (waits or self._age() < GRACE)

    async def _next_changes(self) -> set[ObjectKey]:
        """Wait for changes; at most as long as nothing has to be looked at or told without one."""
        until = time.monotonic() + min(self._interval(), TELL)
        while time.monotonic() < until:
            if self._lease.should_stop():
                raise Interrupted("the watching goes on elsewhere")
            rung = await self._bell.wait(timeout=1.0, gather=GATHER)
            if rung:
                return rung
        return set()

    def _interval(self) -> float:
        return RELOOK if self._bell.covered else min(MAX_POLL, POLL + self._age() / 30)

    def _age(self) -> float:
        return time.monotonic() - self._began

    def _answer(self, *, render_settled: bool = False, jobs_settled: bool = False) -> Observed:
        health = self._render.health if self._render is not None else None
        return Observed(
            render_settled=render_settled,
            jobs_settled=jobs_settled,
            phase=health.phase.value if health is not None else "",
            message=health.message if health is not None else "",
        )


def is_latest(release: Release, watch: Watch) -> bool:
    """Whether no other render was attempted since: health of an older one must not be written over its."""
    attempted = release.status.last_attempted
    return attempted is not None and attempted.render_ref == watch.render_ref
