"""The start of every pass: read the Release, say what was seen, render, and decide what there is to do."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

from temporalio import activity

from activities.cluster_status import record_cluster
from activities.context import this_release
from activities.hook_jobs import end_unwanted
from activities.lease import Lease
from activities.own_release import write_release_status
from activities.plan_gates import closed_gate, left_unfinished, may_wait, waves_of
from activities.rollouts import (
    inventory_of,
    is_watched,
    rollout_now,
    rollout_of_a_sync,
    tell_rollout,
    with_rollout,
)
from activities.services import Services
from activities.siblings import cut
from convoy.api.errors import ConvoyError, Suspended, WaitingForClusterWave
from convoy.api.hooks import HookStage
from convoy.api.inventory import ReleaseInventory
from convoy.api.names import MANAGER
from convoy.api.objects import Manifest
from convoy.api.release import Release
from convoy.api.release_status import Handled, Rollout
from convoy.api.spec_hash import spec_hash
from convoy.api.times import format_time
from convoy.health.observed import HealthyRender, healthy_render
from convoy.hooks.definition import stage_hooks
from convoy.hooks.plan import runs_due
from convoy.kube.errors import NotFound
from convoy.kube.resources import INVENTORIES, RELEASES
from convoy.kube.retry import with_retries
from convoy.policy.cluster_waves import blocking_release
from convoy.policy.decide import decide_manual
from convoy.policy.request import force_pending, requested_at
from convoy.policy.trigger import LOOKS, Trigger, health_digest, is_unfinished, reasons_to_sync, seen
from convoy.sync.desired import Desired
from convoy.sync.desired_order import Origin
from convoy.sync.release_status import begun, own_status, rolled_out
from workflows.contract import (
    Activity,
    Decision,
    HookRun,
    Plan,
    Resolved,
    ResolveInput,
    SyncRequest,
)

_ALWAYS = {
    Trigger.PERIODIC,
    Trigger.RETRY,
    Trigger.OWNER_CHANGED,
    Trigger.ROLLOUT_FAILED,
    Trigger.MANUAL,
    Trigger.RESTARTED,
    Trigger.APPROVED,
    Trigger.TIMED_OUT,
}
"""What starts a pass by itself; every other request stands for something that the Release shows."""

_OF_HEALTH = {Trigger.HEALTH_CHANGED, Trigger.HEALTH_REACHED}

_ANEW = {Trigger.CREATED, Trigger.SPEC_CHANGED, Trigger.SYNC_REQUESTED, Trigger.MANUAL}
"""What a person did: a gate that was found closed gets its whole time again."""

FAT_LIMIT = 1000
"""Objects up to which an unchanged render is applied by one activity; a larger one wants to be resumable."""


class Resolving:
    """The activity `resolve`."""

    def __init__(self, services: Services) -> None:
        self._services = services

    @activity.defn(name=Activity.RESOLVE)
    async def resolve(self, asked: ResolveInput) -> Resolved:
        """Steps 1 to 5 of a reconcile (design 03): all that comes before the eight steps of the sync."""
        if asked.delay_ms:
            await asyncio.sleep(asked.delay_ms / 1000)
        async with Lease() as lease:
            return await self._resolve(asked.requests, lease)

    async def _resolve(self, requests: tuple[SyncRequest, ...], lease: Lease) -> Resolved:
        home, name = self._services.home, this_release()
        try:
            tree = await with_retries(lambda: home.get(RELEASES, name.namespace, name.name))
        except NotFound:
            return Resolved(Decision.NOTHING, message=f"there is no Release {name}")
        uid = tree["metadata"]["uid"]
        wishes = [request for request in requests if request.uid in ("", uid)]
        fault: ConvoyError | None = None
        try:
            release = Release.read(tree)
        except ConvoyError as error:
            release, fault = cut(tree), error
        told = any(wish.trigger is Trigger.LOWER_WAVE_CHANGED for wish in wishes)
        siblings = (
            await self._services.siblings.lower_as_told(release)
            if told
            else self._services.siblings.lower(release)
        )
        health = await self._health(wishes)
        now = seen(release, spec_hash=spec_hash(tree), health=health, siblings=siblings)
        trigger = trigger_of(release, wishes, reasons_to_sync(release, now))
        if trigger is None:
            return Resolved(
                Decision.NOTHING, Plan(uid=uid), message="all that was asked for has been seen already"
            )
        plan = _plan(release, trigger, now)
        inventory = await inventory_of(self._services, release) if is_watched(release) else ReleaseInventory()
        if not await self._begin(tree, now, lease, healthy=healthy_render(inventory)):
            return Resolved(Decision.NOTHING, message=f"Release {name} is gone")
        if release.metadata.deletion_timestamp is not None:
            return Resolved(Decision.TEARDOWN, plan)
        if fault is not None:
            return Resolved(Decision.STOP, plan, fault.reason, fault.message)
        try:
            return await self._decide(release, siblings, plan, inventory, lease)
        except ConvoyError as error:
            return Resolved(Decision.STOP, plan, error.reason, error.message)

    async def _health(self, wishes: list[SyncRequest]) -> str:
        """Return the digest of the health data. The local copy may lag behind the news that this pass is about."""
        name, home = this_release(), self._services.home
        if not any(wish.trigger in _OF_HEALTH for wish in wishes):
            return self._services.ownership.health(name.namespace, name.name).digest
        try:
            return health_digest(await with_retries(lambda: home.get(INVENTORIES, name.namespace, name.name)))
        except NotFound:
            return ""

    async def _begin(self, tree: Manifest, handled: Handled, lease: Lease, *, healthy: HealthyRender) -> bool:
        """Say what this pass has seen; whether the Release is still there."""
        info, uid = activity.info(), tree["metadata"]["uid"]

        def build(latest: Manifest) -> Manifest:
            return begun(
                latest,
                handled=handled.tree(),
                workflow_id=info.workflow_id or "",
                run_id=info.workflow_run_id or "",
                now=datetime.now(UTC),
                healthy=healthy,
            )

        written = await write_release_status(
            self._services.home, uid, lease.fenced(build), manager=MANAGER, known=tree
        )
        return written is not None

    async def _decide(
        self,
        release: Release,
        siblings: list[Release],
        plan: Plan,
        inventory: ReleaseInventory,
        lease: Lease,
    ) -> Resolved:
        if release.spec.suspend:
            raise Suspended("spec.suspend is true; set it to false to go on")
        release = await self._roll(release, await rollout_now(self._services, release, inventory), lease)
        # A forced sync starts over, also with what has failed (`reference/sync-policy`, Forced sync).
        desired = await self._desired(with_rollout(release, None) if plan.forced else release)
        plan = _with_render(
            plan, release, desired, store=self._services.settings.render_store_url is not None
        )
        report = decide_manual(release, render_ref=desired.render.ref)
        if report is not None:
            return Resolved(Decision.STOP, plan, report.reason, report.message)
        blocker = blocking_release(release, siblings)
        if blocker is not None:
            raise WaitingForClusterWave(blocker.message)
        await end_unwanted(self._services, release, desired)
        await self._roll(release, rollout_of_a_sync(release, desired, forced=plan.forced), lease)
        unchanged = not plan.changed_render and not plan.forced and plan.objects <= FAT_LIMIT
        unchanged = unchanged and not may_wait(plan)
        return Resolved(Decision.REAPPLY if unchanged else Decision.APPLY, plan)

    async def _roll(self, release: Release, rollout: Rollout | None, lease: Lease) -> Release:
        """Write a rollout that has changed, and return the Release with it (D28)."""
        before = release.status.rollout
        if rollout == before:
            return release

        def build(tree: Manifest) -> Manifest:
            return rolled_out(tree, own_status(tree), rollout, now=datetime.now(UTC))

        tree = await write_release_status(
            self._services.home, release.metadata.uid, lease.fenced(build), manager=MANAGER
        )
        if tree is not None:
            await tell_rollout(self._services, tree, before, rollout)
        return with_rollout(release, rollout)

    async def _desired(self, release: Release) -> Desired:
        try:
            desired = await self._services.desired.resolve_to_apply(release)
        except ConvoyError as error:
            await record_cluster(self._services, release, error=error)
            raise
        await record_cluster(
            self._services, release, target=desired.destination.target, known=desired.destination.tree
        )
        return desired


def trigger_of(release: Release, wishes: list[SyncRequest], reasons: list[Trigger]) -> Trigger | None:
    """Return why this pass is made, or None where nothing is due.

    What asks only to look whether a wait is over stands back behind all else, which applies finished waves again.

    A pass that began and never wrote its result is made again: its worker died in `resolve`, or somebody reset or
    terminated its run. The workflow id is the lock, so nobody is still at it.
    """
    due = [*reasons, *(wish.trigger for wish in wishes if wish.trigger in _ALWAYS)]
    if not due:
        return Trigger.RESTARTED if wishes and is_unfinished(release) else None
    return next((trigger for trigger in due if trigger not in LOOKS), due[0])


def _plan(release: Release, trigger: Trigger, now: Handled) -> Plan:
    return Plan(
        uid=release.metadata.uid,
        cluster=release.spec.cluster_ref.name,
        trigger=trigger,
        requested_at=requested_at(release) or "",
        force_requested_at=force_pending(release) or "",
        started_at=format_time(datetime.now(UTC)),
        run_id=activity.info().workflow_run_id or "",
        generation=release.metadata.generation,
        spec_hash=now.spec_hash or "",
    )


def _with_render(plan: Plan, release: Release, desired: Desired, *, store: bool) -> Plan:
    render, unrecorded = desired.render, release.status.unrecorded
    waves = tuple(waves_of(release, render))
    anew = plan.forced or plan.trigger in _ANEW
    gate, until = (0, 0.0) if anew else closed_gate(release, render.ref, waves)
    return replace(
        plan,
        render_ref=render.ref,
        revision=render.revision,
        waves=waves,
        prune=release.spec.sync_policy.prune.orphaned,
        prune_after_healthy=release.spec.sync_policy.prune.after_healthy,
        store=store,
        changed_render=release.status.applied_render_ref != render.ref,
        unfinished=left_unfinished(release.status),
        pre_sync=_runs(plan, release, desired, HookStage.PRE_SYNC),
        post_sync=_runs(plan, release, desired, HookStage.POST_SYNC),
        unrecorded=unrecorded is not None and unrecorded.render_ref == render.ref,
        failed_gate=gate,
        closed_until=until,
    )


def _runs(plan: Plan, release: Release, desired: Desired, stage: HookStage) -> tuple[HookRun, ...]:
    due = runs_due(
        stage_hooks(release, desired.render, stage),
        release,
        render_ref=desired.render.ref,
        stage=stage,
        trigger=plan.trigger,
        forced=plan.forced,
        rollback=desired.origin is Origin.LAST_HEALTHY,
    )
    return tuple(HookRun(run.name, run.number, run.definition) for run in due)
