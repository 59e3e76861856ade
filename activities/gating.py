"""Whether what was applied is healthy: what a wave, or a prune, waits for."""

from __future__ import annotations

from temporalio import activity

from activities.context import this_release
from activities.lease import Lease
from activities.services import Services
from activities.stage import open_stage
from convoy.api.errors import ClusterNotReady
from convoy.health.checks import health_checks
from convoy.health.look import look, open_assessment
from convoy.health.phase import Phase
from convoy.kube.errors import ApiError
from workflows.contract import Activity, HealthAnswer, HealthCheck, Watch


class Gating:
    """The activity `check-health`."""

    def __init__(self, services: Services) -> None:
        self._services = services

    @activity.defn(name=Activity.CHECK_HEALTH)
    async def check_health(self, asked: HealthCheck) -> HealthAnswer:
        """Read what a wave applied, or the whole render, and judge it.

        What is not healthy yet is watched from now on. The reads are newer than the apply, so that nothing is judged
        on the good health of the old replicas (D26).

        Raises:
            ClusterNotReady: the target does not answer.
            Unsupported: a check of the Release is wrong.
            RenderMissing: the render is gone from the working store.
            Fenced: the Release is gone.
        """
        async with Lease():
            stage = await open_stage(self._services, asked.plan)
            checks = health_checks(stage.release.spec.health_checks)
            wave = asked.index if asked.index >= 0 else None
            assessment = await open_assessment(stage.target, stage.render, checks=checks)
            try:
                await look(stage.target, assessment, assessment.to_read(wave))
            except ApiError as error:
                raise ClusterNotReady(f"Cluster {asked.plan.cluster}: {error.message}") from error
            health = assessment.health() if wave is None else assessment.wave(wave)
            if health.phase is Phase.HEALTHY:
                return HealthAnswer(healthy=True)
            watch = Watch(asked.plan.uid, asked.plan.render_ref, index=asked.index, gate=True)
            await self._services.signals.watch(this_release(), watch)
            return HealthAnswer(healthy=False, message=health.message)
