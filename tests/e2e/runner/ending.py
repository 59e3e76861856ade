"""The end of an attempt, which is later than what a case may have seen of it.

Step 7 belongs to it, although the Release tells of the result before: nothing that a postSync hook does changes that.
And an object that a case waits for is there before the attempt that has applied it has a result.
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

REST_WITHIN = 10.0
"""Seconds that an expectation gives a running attempt to come to its result."""


async def until_at_rest(convoy: Convoy, release: ReleaseId, *, hooks: bool) -> None:
    """Let an attempt that runs come to its result (a wait is one), and to the end of its `hooks` where they matter."""
    deadline = time.monotonic() + REST_WITHIN
    while time.monotonic() < deadline:
        tree = await convoy.read(release)
        sync = (tree.get("status") or {}).get("sync") or {}
        if not sync.get("runId") or sync.get("settledAt"):
            if hooks:
                await until_post_sync_has_ended(convoy, release, tree, timeout=REST_WITHIN)
            return
        await asyncio.sleep(POLL)


async def until_post_sync_has_ended(
    convoy: Convoy, release: ReleaseId, settled: Manifest, *, timeout: float
) -> None:
    """Wait until the run that has applied a Release is over, or waits for a person; no longer than `timeout`.

    `settled` is the Release as it told of the result.
    """
    run_id = ((settled.get("status") or {}).get("sync") or {}).get("runId")
    if not run_id or condition_of(settled, APPLIED).get("status") != "True":
        return
    run = convoy.temporal.get_workflow_handle(release.sync, run_id=run_id)
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        if (await run.describe()).status is not WorkflowExecutionStatus.RUNNING:
            return
        view: SyncView = await run.query(STATE_QUERY, result_type=SyncView)
        if view.awaits:
            return
        await asyncio.sleep(POLL)
