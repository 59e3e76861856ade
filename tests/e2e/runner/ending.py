"""The end of an attempt: step 7 belongs to it, although the Release tells of the result before.

Nothing that a postSync hook does changes the result, so convoy has recorded it by then. A case that asks for the hook's
state behind a sync means the state that it ends with.
"""

from __future__ import annotations

import asyncio
import time

from temporalio.client import WorkflowExecutionStatus

from convoy.api.names import APPLIED
from convoy.api.objects import Manifest
from tests.e2e.harness.convoy import POLL, Convoy, condition_of
from workflows.contract import STATE_QUERY, ReleaseId
from workflows.views import SyncView


async def until_post_sync_has_ended(
    convoy: Convoy, release: ReleaseId, settled: Manifest, *, timeout: float
) -> None:
    """Wait until the run that has applied a Release is over, or waits for a person; no longer than `timeout`.

    `settled` is the Release as it told of the result.
    """
    if condition_of(settled, APPLIED).get("status") != "True":
        return
    run = convoy.temporal.get_workflow_handle(release.sync, run_id=settled["status"]["sync"]["runId"])
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        if (await run.describe()).status is not WorkflowExecutionStatus.RUNNING:
            return
        view: SyncView = await run.query(STATE_QUERY, result_type=SyncView)
        if view.awaits:
            return
        await asyncio.sleep(POLL)
