"""A Temporal server in memory, and a worker with scripted activities on it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

from temporalio.client import Client
from temporalio.common import SearchAttributeKey
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from deploy.stack.acquire import acquire
from tests.workflows.doubles import Doubles
from workers.converter import DATA_CONVERTER
from workers.surplus import DropSurplusInput
from workers.worker import WORKFLOWS, workflow_runner
from workflows.contract import OBSERVING, SearchAttribute

IDENTITY = "convoy-tests"


@asynccontextmanager
async def temporal_server(*, say: Callable[[str], None], long_history: int = 200) -> AsyncIterator[Client]:
    """Run a server; `long_history` is the number of events from which it suggests to continue as new."""
    settings = {
        "system.enableActivityEagerExecution": "true",
        "limit.historyCount.suggestContinueAsNew": str(long_history),
    }
    attributes = [
        SearchAttributeKey.for_bool(name)
        if name is SearchAttribute.CHANGED
        else SearchAttributeKey.for_keyword(name)
        for name in SearchAttribute
    ]
    async with await WorkflowEnvironment.start_local(
        data_converter=DATA_CONVERTER,
        identity=IDENTITY,
        search_attributes=attributes,
        dev_server_existing_path=str(acquire("temporal", say=say)),
        dev_server_startup_timeout=timedelta(seconds=60),
        dev_server_log_level="error",
        dev_server_extra_args=[
            part for setting in settings.items() for part in ("--dynamic-config-value", "=".join(setting))
        ],
    ) as environment:
        yield environment.client


@asynccontextmanager
async def scripted_worker(
    client: Client, queue: str, doubles: Doubles, *, cached: int
) -> AsyncIterator[None]:
    """Run workers as `workers.worker` builds them, but for activities; `cached` workflows stay in memory.

    Debug mode is without the SDK's deadlock detector: a machine that stands still for two seconds is no failure.
    """
    worker = Worker(
        client,
        task_queue=queue,
        workflows=WORKFLOWS,
        activities=doubles.activities(),
        workflow_runner=workflow_runner(),
        interceptors=[DropSurplusInput()],
        max_cached_workflows=cached,
        debug_mode=True,
        build_id="tests",
    )
    observer = Worker(client, task_queue=queue + OBSERVING, activities=doubles.activities(), build_id="tests")
    async with worker, observer:
        yield
