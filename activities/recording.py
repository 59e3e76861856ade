"""Writing the result of a pass: the Release's status, its events, the metrics, and the word to Drift."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import structlog
from temporalio import activity

from activities.announcing import announce
from activities.assessing import Assessed, assess
from activities.collecting import collect_renders
from activities.context import epoch, this_release
from activities.lease import Lease
from activities.own_release import write_release_status
from activities.plan_gates import gate_of
from activities.progress import tell_progress
from activities.rollouts import inventory_of, rollout_due, rollout_now, rollout_of, tell_rollout
from activities.services import Services
from activities.siblings import cut
from convoy.api.errors import ConvoyError, HookFailed, WaitingForOwner
from convoy.api.hooks import HookStage
from convoy.api.names import MANAGER, MANAGER_RETRY, SYNC_FORCE_REQUESTED_AT
from convoy.api.objects import Manifest
from convoy.api.release import Release, SyncPolicy
from convoy.api.release_status import Rollout
from convoy.api.spec_hash import spec_hash
from convoy.health.rollout import RolloutPhase, is_rolled_back
from convoy.hooks.failures import failed_runs, why_failed, with_failed_post_sync
from convoy.kube.errors import NotFound, UidMismatch
from convoy.kube.resources import RELEASES
from convoy.kube.retry import with_retries
from convoy.kube.status import write_status
from convoy.policy.request import with_annotation_faults
from convoy.policy.trigger import Trigger
from convoy.sync.attempt import Attempt
from convoy.sync.claim import let_go
from convoy.sync.ledger import Ledger
from convoy.sync.release_status import Result, WaveProgress, applied_ref, rolled_out, settled
from workflows.contract import (
    Activity,
    Outcome,
    Plan,
    Recorded,
    RecordInput,
    RecordRetry,
    SyncEnded,
    SyncRequest,
    WaveHealth,
)

log = structlog.get_logger(__name__)


def attempt_of(plan: Plan) -> Attempt:
    """Return what the status tells of an attempt."""
    return Attempt(
        render_ref=plan.render_ref,
        revision=plan.revision,
        trigger=plan.trigger,
        requested_at=plan.requested_at,
        started_at=plan.started_at,
        objects=plan.objects,
        gate=gate_of(plan),
    )


class Recording:
    """The activities `record` and `record-retry`."""

    def __init__(self, services: Services) -> None:
        self._services = services

    @activity.defn(name=Activity.RECORD)
    async def record(self, done: RecordInput) -> Recorded:
        """Step 8 and the status of every pass; the last thing that a pass does."""
        async with Lease() as lease:
            try:
                return await self._record(done, lease)
            except (NotFound, UidMismatch):
                return Recorded("", f"Release {this_release()} is gone")

    async def _record(self, done: RecordInput, lease: Lease) -> Recorded:
        plan, outcome = done.plan, done.outcome
        home, release, now = self._services.home, this_release(), datetime.now(UTC)
        # Before the result: whoever reads that the sync waits, or is done, reads also what is healthy.
        if done.health is not None:
            await self._tell_health(plan, done.health)
        known = await with_retries(lambda: home.get(RELEASES, release.namespace, release.name))
        if not plan.uid:
            # Asked for by hand, and the pass failed before it knew whose it is: that of whoever has the name.
            plan = replace(plan, uid=known["metadata"]["uid"])
            done = replace(done, plan=plan)
        if _is_superseded(known, plan):
            return Recorded("", f"Release {release} was made again, or another run has taken over")
        assessed = Assessed(known)
        if done.attempted and outcome.applied:
            assessed = await assess(self._services, known, plan, changed=outcome.changed)
        known = assessed.release
        rollout = await self._rollout(known, done, _settled(known, done, assessed, now))

        def build(tree: Manifest) -> Manifest | None:
            if _is_superseded(tree, plan):
                return None
            status = _settled(tree, done, assessed, now)
            return rolled_out(tree, status, rollout, now=now) if rollout is not None else status

        tree = await write_status(
            home,
            RELEASES,
            release.namespace,
            release.name,
            manager=MANAGER,
            build=lease.fenced(build),
            known=known,
        )
        if _is_superseded(tree, plan):
            return Recorded("", f"Release {release} was made again, or another run has taken over")
        if outcome.reason != WaitingForOwner.reason and not (done.attempted and outcome.applied):
            await self._let_go(cut(tree))
        await announce(self._services, tree, done)
        _count(outcome)
        await self._tell_rollout(known, tree, plan)
        await self._services.signals.ended(release, _ended(tree, done))
        if assessed.watch is not None:
            await self._services.signals.watch(release, assessed.watch)
        # The entry that the history has no room for goes as another one is recorded: behind the hooks, by a later pass.
        recorded = _is_unrecorded(known) and not _is_unrecorded(tree)
        if recorded or (done.attempted and outcome.applied):
            changed = plan.changed_render or recorded
            await collect_renders(self._services, Release.model_validate(tree), changed=changed)
        return Recorded("True" if outcome.applied else "False", outcome.message)

    async def _rollout(self, tree: Manifest, done: RecordInput, status: Manifest) -> Rollout | None:
        """Return what becomes of a running rollout with the status that this pass writes; None: it stays (D28)."""
        plan, outcome = done.plan, done.outcome
        try:
            release = Release.read(tree | {"status": (tree.get("status") or {}) | status})
            rollout = release.status.rollout
            if rollout is None or rollout.phase != RolloutPhase.PROGRESSING:
                return None
            why = ""
            if outcome.reason == HookFailed.reason and plan.render_ref == rollout.render_ref:
                # Without the advice that is in the message of Applied: the rollout has its own.
                runs = failed_runs(release, HookStage.PRE_SYNC, plan.render_ref)
                why = "; ".join(why_failed(runs)) or outcome.message
            inventory = await inventory_of(self._services, release)
            return await rollout_now(self._services, release, inventory, hook_failed=why)
        except ConvoyError as error:
            # The next pass judges it; this one's result is not to be lost.
            log.warning("rollout-not-judged", release=str(this_release()), error=error.message)
            return None

    async def _tell_rollout(self, known: Manifest, tree: Manifest, plan: Plan) -> None:
        """Tell what became of the rollout, and ask for the pass that brings the last healthy render back."""
        before, after = rollout_of(known), rollout_of(tree)
        await tell_rollout(self._services, tree, before, after)
        if is_rolled_back(after, plan.render_ref):
            request = SyncRequest(trigger=Trigger.ROLLOUT_FAILED, uid=plan.uid)
            await self._services.signals.sync(this_release(), request)

    @activity.defn(name=Activity.RECORD_RETRY)
    async def record_retry(self, retry: RecordRetry) -> str:
        """Write `status.retry`: when the next try is due, and after how many failures."""
        status: Manifest = {"retry": {"failures": retry.failures, "at": retry.at}} if retry.at else {}
        written = await write_release_status(
            self._services.home, retry.uid, lambda _: status, manager=MANAGER_RETRY
        )
        return retry.at if written is not None else ""

    async def _tell_health(self, plan: Plan, health: WaveHealth) -> None:
        applied = plan.waves[health.index].objects
        now_at = WaveProgress(index=health.index, phase=health.phase, applied=applied)
        await tell_progress(self._services, plan, now_at)

    async def _let_go(self, release: Release) -> None:
        """Hold nothing that is not applied while no pass runs, however this one ended (D13, D14)."""
        try:
            ledger = await Ledger.open(self._services.home, release=release, epoch=epoch())
            await let_go(ledger)
        except ConvoyError as error:
            log.warning("planned-keys-not-withdrawn", release=str(this_release()), error=error.message)


def _is_superseded(tree: Manifest, plan: Plan) -> bool:
    """Whether this result is not about the Release as it is: made again (D39), or another run has begun a pass."""
    run = ((tree.get("status") or {}).get("sync") or {}).get("runId")
    return tree["metadata"]["uid"] != plan.uid or bool(plan.run_id and run and run != plan.run_id)


def _is_unrecorded(tree: Manifest) -> bool:
    return "unrecorded" in (tree.get("status") or {})


def _settled(tree: Manifest, done: RecordInput, assessed: Assessed, now: datetime) -> Manifest:
    # In automatic mode any change of the other annotation starts a reconcile, and in manual mode `resolve` has told.
    handled = {SYNC_FORCE_REQUESTED_AT: (tree.get("status") or {}).get("lastHandledForceSyncAt")}
    message = with_annotation_faults(
        _told_of_hooks(tree, done), tree["metadata"].get("annotations") or {}, handled
    )
    result = replace(_result(done, message), health=assessed.digest, healthy_at=assessed.healthy_at)
    return settled(tree, result, generation=done.plan.generation, now=now)


def _told_of_hooks(tree: Manifest, done: RecordInput) -> str:
    message = done.outcome.message
    if not done.outcome.applied:
        return message
    try:
        return with_failed_post_sync(message, Release.read(tree), done.plan.render_ref)
    except ConvoyError:
        return message  # the spec was broken meanwhile: the next pass says so


def _result(done: RecordInput, message: str) -> Result:
    plan, outcome = done.plan, done.outcome
    attempted = done.attempted and outcome.reason != WaitingForOwner.reason
    return Result(
        reason=outcome.reason,
        message=message,
        applied=outcome.applied,
        attempted=attempt_of(plan) if attempted else None,
        only_looked=done.only_looked,
        has_hooks=done.post_sync_runs,
        handled_sync_at=plan.requested_at if attempted and outcome.applied else "",
        handled_force_at=plan.force_requested_at,
    )


def _ended(tree: Manifest, done: RecordInput) -> SyncEnded:
    ended = SyncEnded(
        done.plan.uid,
        done.outcome.reason,
        SyncPolicy(),
        spec_hash=spec_hash(tree),
        render_ref=applied_ref(tree),
    )
    try:
        release = Release.read(tree)
    except ConvoyError:
        return ended  # such a spec is a terminal failure: no backoff counts
    due = rollout_due(release)
    due_at = due.timestamp() if due is not None else 0.0
    return replace(ended, policy=release.spec.sync_policy, rollout_due=due_at)


def _count(outcome: Outcome) -> None:
    meter = activity.metric_meter().with_additional_attributes({"reason": outcome.reason})
    meter.create_counter("convoy_passes", "Passes of Sync by the reason they ended with").add(1)
