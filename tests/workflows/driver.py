"""What people, the watcher and other workflows do to the workflows of a Release."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from temporalio.client import (
    Client,
    WithStartWorkflowOperation,
    WorkflowExecutionStatus,
    WorkflowFailureError,
    WorkflowHandle,
    WorkflowUpdateHandle,
    WorkflowUpdateStage,
)
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.exceptions import ApplicationError

from activities.signals import DRIFT_WORKFLOW, SYNC_WORKFLOW, Signals
from convoy.policy.trigger import Trigger
from tests.workflows.doubles import SAFETY
from workflows.contract import (
    STATE_QUERY,
    Approved,
    Cause,
    Changed,
    DriftReport,
    Observed,
    ReleaseId,
    Settled,
    SignalName,
    SyncEnded,
    SyncRequest,
    UpdateName,
    Watch,
)
from workflows.state import DriftState, SyncState


class Driver:
    """Drives the workflows of one Release."""

    def __init__(self, client: Client, queue: str, release: ReleaseId) -> None:
        self.client = client
        self.queue = queue
        self.release = release
        self._signals = Signals(client, task_queue=queue, resync=timedelta())

    # --- Sync ------------------------------------------------------------------------------------

    async def sync(self, request: SyncRequest | None = None) -> WorkflowHandle[Any, Settled]:
        """Signal as the watcher does; returns the run that is open then."""
        wish = request or SyncRequest(trigger=Trigger.SPEC_CHANGED, uid="uid-1")
        await self._signals.sync(self.release, wish)
        return self.open_sync()

    async def sync_now(self, *args: Any) -> Settled:
        """Update `sync` with start, as `temporal workflow execute-update-with-start` does."""
        start: WithStartWorkflowOperation[Any, Any] = WithStartWorkflowOperation(
            SYNC_WORKFLOW,
            id=self.release.sync,
            task_queue=self.queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        )
        async with asyncio.timeout(SAFETY):
            settled: Settled = await self.client.execute_update_with_start_workflow(
                UpdateName.SYNC, args=args, start_workflow_operation=start, result_type=Settled
            )
        return settled

    async def ask(self, id: str | None = None) -> WorkflowUpdateHandle[Settled]:
        """Update `sync` of the open run; it has heard of it when this returns."""
        async with asyncio.timeout(SAFETY):
            return await self.open_sync().start_update(
                UpdateName.SYNC,
                id=id,
                wait_for_stage=WorkflowUpdateStage.ACCEPTED,
                result_type=Settled,
            )

    async def wake(self, uid: str) -> None:
        """Tell the open run that its wait may be over."""
        await self._signals.wake(self.release, uid)

    async def start_sync(self, state: SyncState) -> WorkflowHandle[Any, Settled]:
        """Start a run as continue-as-new does."""
        return await self.client.start_workflow(
            SYNC_WORKFLOW, state, id=self.release.sync, task_queue=self.queue, result_type=Settled
        )

    async def approve(self, *args: str) -> Approved:
        """Update `approve` of the open run: the hook, and who lets it go on."""
        async with asyncio.timeout(SAFETY):
            approved: Approved = await self.open_sync().execute_update(
                UpdateName.APPROVE, args=args, result_type=Approved
            )
        return approved

    def open_sync(self) -> WorkflowHandle[Any, Settled]:
        """Return a handle on the newest run."""
        return self.client.get_workflow_handle(self.release.sync, result_type=Settled)

    # --- Drift -----------------------------------------------------------------------------------

    async def drift(self, *, tick: float = 0.0, uid: str = "uid-1") -> WorkflowHandle[Any, None]:
        """Start the Drift workflow."""
        return await self.start_drift(DriftState(uid=uid, tick=tick))

    async def start_drift(self, state: DriftState) -> WorkflowHandle[Any, None]:
        """Start the Drift workflow as continue-as-new does."""
        await self.client.start_workflow(DRIFT_WORKFLOW, state, id=self.release.drift, task_queue=self.queue)
        return self.open_drift()

    def open_drift(self) -> WorkflowHandle[Any, None]:
        """Return a handle on the newest run."""
        return self.client.get_workflow_handle(self.release.drift)

    async def changed(self, cause: Cause, id: str = "1", uid: str = "uid-1") -> None:
        """Signal an event that starts a pass, as the watchers of earlier versions did."""
        await self.client.start_workflow(
            DRIFT_WORKFLOW,
            DriftState(uid=uid, tick=0.0),
            id=self.release.drift,
            task_queue=self.queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            start_signal=SignalName.CHANGED,
            start_signal_args=[Changed(uid, cause, id)],
        )

    async def ensure_drift(self, *, interval: timedelta) -> None:
        """Start the Drift workflow as the watcher does."""
        await self._signals.ensure_drift(self.release, "uid-1", interval)

    async def ended(self, ended: SyncEnded) -> None:
        """Signal how a pass of Sync ended."""
        await self._signals.ended(self.release, ended)

    # --- Health ----------------------------------------------------------------------------------

    async def watch(self, watch: Watch) -> WorkflowHandle[Any, Observed]:
        """Signal what is waited for; returns the run that is open then."""
        await self._signals.watch(self.release, watch)
        return self.open_health()

    def open_health(self) -> WorkflowHandle[Any, Observed]:
        """Return a handle on the newest run."""
        return self.client.get_workflow_handle(self.release.health, result_type=Observed)

    async def check(self) -> DriftReport:
        """Update `check`."""
        async with asyncio.timeout(SAFETY):
            report: DriftReport = await self.open_drift().execute_update(
                UpdateName.CHECK, result_type=DriftReport
            )
        return report


async def result(handle: WorkflowHandle[Any, Any] | WorkflowUpdateHandle[Any]) -> Any:
    """Wait until a run has ended, or an update is answered."""
    async with asyncio.timeout(SAFETY):
        return await handle.result()


async def failed(handle: WorkflowHandle[Any, Any]) -> ApplicationError:
    """Wait until a run has Failed; returns its failure."""
    with pytest.raises(WorkflowFailureError) as raised:
        await result(handle)
    assert isinstance(raised.value.cause, ApplicationError)
    return raised.value.cause


async def status(handle: WorkflowHandle[Any, Any]) -> WorkflowExecutionStatus | None:
    """Return the status of a run."""
    return (await handle.describe()).status


async def state(handle: WorkflowHandle[Any, Any]) -> dict[str, Any]:
    """Ask a workflow where it is."""
    answer: dict[str, Any] = await handle.query(STATE_QUERY)
    return answer


async def until(handle: WorkflowHandle[Any, Any], when: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Ask a workflow where it is until it is there."""
    async with asyncio.timeout(SAFETY):
        while not when(view := await state(handle)):  # noqa: ASYNC110 (another process is waited for)
            await asyncio.sleep(0.02)
    return view


async def signal(handle: WorkflowHandle[Any, Any], name: SignalName | str, *args: Any) -> None:
    """Send a signal with any input, as a person at the Temporal CLI may."""
    await handle.signal(name, args=args)
