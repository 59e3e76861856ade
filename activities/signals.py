"""Sending signals to a Release's workflows, started with the signal where none is open.

The only form that works for all: a child workflow would end with its parent, an external handle fails where no run
is open, and the server's own signal-with-start command from workflow code never finishes (tried, design 04).
"""

from __future__ import annotations

from datetime import timedelta

from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.common import Priority, WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.service import RPCError, RPCStatusCode

from convoy.policy.spread import tick_period
from workflows.contract import (
    Cause,
    Changed,
    DriftStart,
    ReleaseId,
    SignalName,
    SyncEnded,
    SyncRequest,
    Watch,
)

SYNC_WORKFLOW = "Sync"
DRIFT_WORKFLOW = "Drift"
HEALTH_WORKFLOW = "Health"


class Signals:
    """Signals to the workflows of any Release."""

    def __init__(self, client: Client, *, task_queue: str, resync: timedelta) -> None:
        self._client = client
        self._task_queue = task_queue
        self._resync = resync

    async def sync(self, release: ReleaseId, request: SyncRequest) -> None:
        """Ask for a sync."""
        summary = f"sync of Release {release}: {request.trigger}"
        await self._signal(SYNC_WORKFLOW, release.sync, SignalName.SYNC, request, release, summary=summary)

    async def watch(self, release: ReleaseId, watch: Watch) -> None:
        """Tell Health that something is waited for."""
        summary = f"health of Release {release}"
        await self._signal(HEALTH_WORKFLOW, release.health, SignalName.WATCH, watch, release, summary=summary)

    async def ended(self, release: ReleaseId, ended: SyncEnded) -> None:
        """Tell Drift how a pass of Sync ended."""
        await self._drift(release, ended.uid, ended.policy.interval, ended)

    async def deleted(self, release: ReleaseId, uid: str) -> None:
        """Tell Drift that its Release is gone, if there is a Drift to tell."""
        await self._to_open(release.drift, SignalName.CHANGED, Changed(uid, Cause.DELETED, uid))

    async def wake(self, release: ReleaseId, uid: str) -> None:
        """Tell a Sync that its wait may be over. Where none is open there is no wait."""
        await self._to_open(release.sync, SignalName.WAKE, uid)

    async def ensure_drift(self, release: ReleaseId, uid: str, interval: timedelta | None = None) -> None:
        """Start the Drift workflow of a Release that has none; costs an open one no event."""
        await self._drift(release, uid, interval)

    async def sync_is_open(self, release: ReleaseId) -> bool:
        """Whether a Sync of the Release is open now, as Temporal itself says (no list, which lags)."""
        try:
            description = await self._client.get_workflow_handle(release.sync).describe()
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                return False
            raise
        return description.status is WorkflowExecutionStatus.RUNNING

    async def _signal(
        self,
        workflow: str,
        workflow_id: str,
        signal: SignalName,
        arg: SyncRequest | Watch,
        release: ReleaseId,
        *,
        summary: str,
    ) -> None:
        await self._client.start_workflow(
            workflow,
            id=workflow_id,
            task_queue=self._task_queue,
            id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
            start_signal=signal,
            start_signal_args=[arg],
            static_summary=summary,
            priority=Priority(fairness_key=release.namespace[:64]),
        )

    async def _to_open(self, workflow_id: str, signal: SignalName, arg: Changed | str) -> None:
        try:
            await self._client.get_workflow_handle(workflow_id).signal(signal, arg)
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise

    async def _drift(
        self,
        release: ReleaseId,
        uid: str,
        interval: timedelta | None,
        ended: SyncEnded | None = None,
    ) -> None:
        # A Drift that starts knows its tick at once: its first pass may come with the tick only, or fail.
        tick = tick_period(interval, self._resync)
        await self._client.start_workflow(
            DRIFT_WORKFLOW,
            DriftStart(uid=uid, tick=tick.total_seconds() if tick else 0.0),
            id=release.drift,
            task_queue=self._task_queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            start_signal=SignalName.OUTCOME if ended is not None else None,
            start_signal_args=[ended] if ended is not None else [],
            static_summary=f"drift of Release {release}",
            priority=Priority(fairness_key=release.namespace[:64]),
        )
