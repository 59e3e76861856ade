"""Writing the result of a pass: the Release's status, its events, the metrics, and the word to Drift."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

import structlog
from temporalio import activity

from activities.collecting import collect_renders
from activities.context import epoch, this_release
from activities.lease import Lease
from activities.services import Services
from activities.siblings import cut
from convoy.api.errors import ConvoyError, Hold, WaitingForOwner, error_classes
from convoy.api.names import MANAGER, MANAGER_RETRY
from convoy.api.objects import Manifest, counted
from convoy.api.release import Release, SyncPolicy
from convoy.kube.errors import NotFound
from convoy.kube.resources import RELEASES
from convoy.kube.status import write_status
from convoy.policy.request import with_annotation_faults
from convoy.policy.trigger import Trigger
from convoy.sync.claim import let_go
from convoy.sync.ledger import Ledger
from convoy.sync.release_status import Attempt, Result, settled
from workflows.contract import (
    Activity,
    Outcome,
    Plan,
    Recorded,
    RecordInput,
    RecordRetry,
    SyncEnded,
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
    )


def is_news(plan: Plan) -> bool:
    """Return whether events tell of a pass even if it changes nothing: a resync of a large render is no news."""
    return plan.changed_render or plan.forced or plan.trigger is Trigger.SYNC_REQUESTED


class Recording:
    """The activities `record` and `record-retry`."""

    def __init__(self, services: Services) -> None:
        self._services = services

    @activity.defn(name=Activity.RECORD)
    async def record(self, done: RecordInput) -> Recorded:
        """Step 8 and the status of every pass; the last thing that a pass does."""
        plan, outcome = done.plan, done.outcome
        release = this_release()
        now = datetime.now(UTC)

        def build(tree: Manifest) -> Manifest | None:
            if tree["metadata"]["uid"] != plan.uid:
                return None  # deleted and made again: this result is not about that Release (D39)
            message = with_annotation_faults(outcome.message, tree["metadata"].get("annotations") or {})
            result = _result(done, message)
            limit = (tree.get("spec") or {}).get("historyLimit", 10)
            return settled(tree, result, generation=plan.generation, history_limit=limit, now=now)

        try:
            tree = await write_status(
                self._services.home, RELEASES, release.namespace, release.name, manager=MANAGER, build=build
            )
        except NotFound:
            return Recorded("", f"Release {release} is gone")
        if tree["metadata"]["uid"] != plan.uid:
            return Recorded("", f"Release {release} was deleted and made again")
        if outcome.reason != WaitingForOwner.reason and not (done.attempted and outcome.applied):
            await self._let_go(cut(tree))
        await self._tell(tree, done)
        _count(outcome)
        await self._services.signals.ended(release, SyncEnded(plan.uid, outcome.reason, _policy(tree)))
        if done.attempted and outcome.applied:
            async with Lease():
                await collect_renders(
                    self._services, Release.model_validate(tree), changed=plan.changed_render
                )
        return Recorded("True" if outcome.applied else "False", outcome.message)

    @activity.defn(name=Activity.RECORD_RETRY)
    async def record_retry(self, retry: RecordRetry) -> str:
        """Write `status.retry`: when the next try is due, and after how many failures."""
        release = this_release()

        def build(tree: Manifest) -> Manifest | None:
            if retry.uid and tree["metadata"]["uid"] != retry.uid:
                return None
            return {"retry": {"failures": retry.failures, "at": retry.at}} if retry.at else {}

        try:
            await write_status(
                self._services.home,
                RELEASES,
                release.namespace,
                release.name,
                manager=MANAGER_RETRY,
                build=build,
            )
        except NotFound:
            return ""
        return retry.at

    async def _let_go(self, release: Release) -> None:
        """Hold nothing that is not applied while no pass runs, however this one ended (D13, D14)."""
        try:
            ledger = await Ledger.open(self._services.home, release=release, epoch=epoch())
            await let_go(ledger)
        except ConvoyError as error:
            log.warning("planned-keys-not-withdrawn", release=str(this_release()), error=error.message)

    async def _tell(self, tree: Manifest, done: RecordInput) -> None:
        plan, outcome, events = done.plan, done.outcome, self._services.events
        failed = error_classes().get(outcome.reason)
        if failed is not None:
            type_: Literal["Normal", "Warning"] = "Normal" if issubclass(failed, Hold) else "Warning"
            await events.emit(tree, reason=outcome.reason, note=outcome.message, type=type_)
            return
        if not outcome.changed and not (done.attempted and is_news(plan)):
            return
        healed = outcome.changed and not plan.changed_render
        await events.emit(tree, reason="Healed" if healed else "SyncSucceeded", note=outcome.message)
        if outcome.pruned:
            note = f"deleted {counted(outcome.pruned, 'object')} that left the render"
            await events.emit(tree, reason="Pruned", note=note)


def _result(done: RecordInput, message: str) -> Result:
    plan, outcome = done.plan, done.outcome
    attempted = done.attempted and outcome.reason != WaitingForOwner.reason
    succeeded = attempted and outcome.applied
    return Result(
        reason=outcome.reason,
        message=message,
        applied=outcome.applied,
        attempted=attempt_of(plan) if attempted else None,
        succeeded=attempt_of(plan) if succeeded else None,
        handled_sync_at=plan.requested_at if succeeded else "",
        handled_force_at=plan.force_requested_at,
    )


def _policy(tree: Manifest) -> SyncPolicy:
    try:
        return Release.read(tree).spec.sync_policy
    except ConvoyError:
        return SyncPolicy()  # a spec that cannot be read is a terminal failure: no backoff counts


def _count(outcome: Outcome) -> None:
    meter = activity.metric_meter().with_additional_attributes({"reason": outcome.reason})
    meter.create_counter("convoy_passes", "Passes of Sync by the reason they ended with").add(1)
