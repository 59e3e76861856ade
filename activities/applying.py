"""The steps of a sync (`reference/apply-and-prune`, Steps of a sync), each one domain function."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from typing import Any

from temporalio import activity

from activities.announcing import is_news
from activities.lease import Lease
from activities.own_release import write_release_status
from activities.progress import tell_progress
from activities.recording import attempt_of
from activities.services import Services
from activities.stage import Stage, open_ledger, open_stage, refuse_suspended
from convoy.api.errors import ConvoyError
from convoy.api.names import MANAGER
from convoy.api.objects import ObjectKey, counted
from convoy.api.times import parse_time
from convoy.sync.apply import Applied, apply_wave
from convoy.sync.claim import Prove, claim, hold
from convoy.sync.crd_check import RenderedCrds
from convoy.sync.doubt import settle_doubts
from convoy.sync.dryrun import DryRun, Seen, dry_run
from convoy.sync.exact import write_exact
from convoy.sync.finalizers import ensure_finalizers
from convoy.sync.ledger import Ledger
from convoy.sync.prune import prune
from convoy.sync.release_status import WaveProgress, attempting
from workflows.contract import (
    Activity,
    ClaimResult,
    DryRunResult,
    Plan,
    PruneResult,
    ReapplyResult,
    WaveInput,
    WaveResult,
)

SEEN = "seen"
"""Name of the blob with what the latest dry run of a Release saw."""

PROGRESS_SECONDS = 5.0


class Applying:
    """The activities `claim`, `dry-run`, `store-render`, `apply-wave`, `prune`, `write-inventory` and `reapply`."""

    def __init__(self, services: Services) -> None:
        self._services = services

    @activity.defn(name=Activity.CLAIM)
    async def claim(self, plan: Plan) -> ClaimResult:
        """Before step 1: record what is about to be applied, and wait for whoever has it already (D13, D14)."""
        async with Lease() as lease:
            stage = await open_stage(self._services, plan)
            await ensure_finalizers(self._services.home, stage.release, stage.cluster)
            ledger = await open_ledger(self._services, stage)
            await self._claim(plan, stage, ledger, lease)
            await self._begin_attempt(plan)
            await self._tell_start(plan, stage)
            return ClaimResult(planned=len(ledger.record.planned))

    @activity.defn(name=Activity.DRY_RUN)
    async def dry_run(self, plan: Plan) -> DryRunResult:
        """Step 1: the whole render as a server-side dry run."""
        async with Lease() as lease:
            stage = await open_stage(self._services, plan)
            result = await self._checked(stage, lease)
            await self._services.renders.save_blob(plan.uid, SEEN, result.encode_seen())
            return DryRunResult(checked=plan.objects, skipped=len(result.skipped), seen=SEEN)

    @activity.defn(name=Activity.STORE_RENDER)
    async def store_render(self, plan: Plan) -> None:
        """Step 2: write the render to the render store, before anything is applied."""
        async with Lease():
            await self._services.renders.publish(plan.uid, plan.render_ref)

    @activity.defn(name=Activity.APPLY_WAVE)
    async def apply_wave(self, wave: WaveInput) -> WaveResult:
        """Step 4, for one wave. A second attempt goes on behind what the first one reported (design 04, rule 6)."""
        plan, index = wave.plan, wave.index
        # Beats forget what an earlier attempt has told unless they tell it again: this one may fail early.
        async with Lease(details=activity.info().heartbeat_details) as lease:
            stage = await open_stage(self._services, plan)
            refuse_suspended(stage)
            ledger = await open_ledger(self._services, stage)
            await hold(ledger, stage.wanted, self._services.ownership, prove=self._prove(plan, stage, lease))
            seen = await self._seen(plan) if wave.seen else None
            start_at, changed = resume_from(activity.info().heartbeat_details)
            total = plan.waves[index].objects
            async with self._progress(wave, lease):
                changed = await self._apply(
                    plan, stage, ledger, lease, index, seen=seen, start_at=start_at, changed=changed
                )
            if index == len(plan.waves) - 1:
                await tell_progress(
                    self._services, plan, WaveProgress(index=index, phase="Applied", applied=total)
                )
            # What the dry run saw tells what an earlier attempt changed; without it, that cannot be told.
            uncounted = seen is None and activity.info().attempt > 1
            return WaveResult(applied=total, changed=changed, uncounted=uncounted)

    @activity.defn(name=Activity.PRUNE)
    async def prune(self, plan: Plan) -> PruneResult:
        """Step 5: delete what the inventory has and the render lacks."""
        async with Lease() as lease:
            stage = await open_stage(self._services, plan)
            refuse_suspended(stage)
            ledger = await open_ledger(self._services, stage)
            return await self._pruned(plan, stage, ledger, lease)

    @activity.defn(name=Activity.WRITE_INVENTORY)
    async def write_inventory(self, plan: Plan) -> None:
        """Step 6: the inventory becomes the exact set of what this sync applied."""
        async with Lease():
            stage = await open_stage(self._services, plan)
            ledger = await open_ledger(self._services, stage)
            await write_exact(ledger, stage.wanted, render_ref=plan.render_ref)
            if not plan.waves:  # no wave that would tell that those of the render before are gone
                await tell_progress(self._services, plan, WaveProgress(index=0, phase="Applied"))

    @activity.defn(name=Activity.REAPPLY)
    async def reapply(self, plan: Plan) -> ReapplyResult:
        """All steps for a render that is applied already: most reconciles of a fleet are this one."""
        async with Lease() as lease:
            stage = await open_stage(self._services, plan)
            await ensure_finalizers(self._services.home, stage.release, stage.cluster)
            ledger = await open_ledger(self._services, stage)
            await self._claim(plan, stage, ledger, lease)
            await self._tell_start(plan, stage)
            checked = await self._checked(stage, lease)
            if plan.store:
                await self._services.renders.publish(plan.uid, plan.render_ref)
            changed = 0
            for index in range(len(plan.waves)):
                changed += await self._apply(plan, stage, ledger, lease, index, seen=dict(checked.seen))
            pruned = await self._pruned(plan, stage, ledger, lease) if plan.prune else PruneResult(0, 0)
            await write_exact(ledger, stage.wanted, render_ref=plan.render_ref)
            done = WaveProgress(index=len(plan.waves), phase="Applied")
            await tell_progress(self._services, plan, done, known=stage.tree)
            return ReapplyResult(changed=changed, pruned=pruned.deleted)

    # --- what the steps share -----------------------------------------------------------

    async def _claim(self, plan: Plan, stage: Stage, ledger: Ledger, lease: Lease) -> None:
        await settle_doubts(stage.target, ledger)
        prove = self._prove(plan, stage, lease)
        await claim(ledger, stage.wanted, self._services.ownership, prove=prove)

    def _prove(self, plan: Plan, stage: Stage, lease: Lease) -> Prove:
        async def prove(keys: Collection[ObjectKey]) -> Collection[ObjectKey]:
            result = await self._dry_run(stage, lease, only=keys)
            if not plan.forced:
                result.raise_for_rejections()
            return result.accepted

        return prove

    async def _begin_attempt(self, plan: Plan) -> None:
        attempt = attempt_of(plan)
        await write_release_status(
            self._services.home, plan.uid, lambda tree: attempting(tree, attempt), manager=MANAGER
        )

    async def _tell_start(self, plan: Plan, stage: Stage) -> None:
        if is_news(plan):
            note = f"{plan.trigger}: {counted(plan.objects, 'object')} of {plan.revision} to Cluster {plan.cluster}"
            await self._services.events.emit(stage.tree, reason="SyncStarted", note=note)

    async def _checked(self, stage: Stage, lease: Lease) -> DryRun:
        result = await self._dry_run(stage, lease)
        result.raise_for_rejections()
        return result

    async def _dry_run(
        self, stage: Stage, lease: Lease, *, only: Collection[ObjectKey] | None = None
    ) -> DryRun:
        return await dry_run(
            stage.target,
            stage.render,
            only=only,
            ignore=stage.release.spec.ignore_differences,
            should_stop=lease.should_stop,
        )

    async def _seen(self, plan: Plan) -> dict[ObjectKey, Seen] | None:
        data = await self._services.renders.load_blob(plan.uid, SEEN)
        return DryRun.decode_seen(data) if data is not None else None

    async def _apply(
        self,
        plan: Plan,
        stage: Stage,
        ledger: Ledger,
        lease: Lease,
        index: int,
        *,
        seen: dict[ObjectKey, Seen] | None,
        start_at: int = 0,
        changed: int = 0,
    ) -> int:
        """Apply a wave; return how many of its objects changed, `changed` of them in earlier attempts."""
        lease.details = [start_at, changed]

        def note(index: int, applied: Applied) -> None:
            nonlocal changed
            changed += applied.changed
            lease.details = [index + 1, changed]

        def should_stop() -> bool:
            return lease.should_stop() or self._services.ownership.overtook(ledger)

        await apply_wave(
            stage.target,
            ledger,
            stage.waves[index],
            seen=seen,
            began=parse_time(plan.started_at) if plan.started_at else None,
            start_at=start_at,
            ignore=stage.release.spec.ignore_differences,
            defined=RenderedCrds(stage.render.objects).kinds,
            on_applied=note,
            should_stop=should_stop,
        )
        return changed

    async def _pruned(self, plan: Plan, stage: Stage, ledger: Ledger, lease: Lease) -> PruneResult:
        if not stage.release.spec.sync_policy.prune.orphaned:
            return PruneResult(0, 0)  # switched off since the pass began: deleting cannot be undone
        result = await prune(
            stage.target,
            ledger,
            stage.keys,
            self._services.ownership,
            max_percent=stage.release.spec.sync_policy.prune.max_percent,
            forced=plan.forced,
            should_stop=lease.should_stop,
        )
        return PruneResult(deleted=len(result.deleted), kept=len(result.kept))

    @asynccontextmanager
    async def _progress(self, wave: WaveInput, lease: Lease) -> AsyncIterator[None]:
        """Write `status.waves` at the start, every few seconds, and where the wave fails."""

        async def tell(phase: str) -> None:
            applied = lease.details[0] if lease.details else 0
            now_at = WaveProgress(index=wave.index, phase=phase, applied=applied)
            await tell_progress(self._services, wave.plan, now_at, lease=lease)

        async def keep_telling() -> None:
            while True:
                await asyncio.sleep(PROGRESS_SECONDS)
                await tell("Applying")

        await tell("Applying")
        telling = asyncio.create_task(keep_telling())
        try:
            yield
        except ConvoyError:
            telling.cancel()
            await tell("Failed")
            raise
        finally:
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)


def resume_from(details: Sequence[Any]) -> tuple[int, int]:
    """Return how many objects of the wave earlier attempts have reported as applied, and how many of those changed.

    A gate holds only where something changed, so an attempt that finds all of it done must not say that nothing did.
    """
    applied, changed, *_ = (*details, 0, 0)
    return int(applied), int(changed)
