"""A real Temporal server, a worker with scripted activities, and a Release of its own for each test.

Each test runs twice: with a workflow cache, and without one, where every workflow task replays the whole history.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from datetime import timedelta

import pytest
from temporalio.client import Client
from temporalio.common import SearchAttributeKey
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.service import RPCError
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from deploy.stack.acquire import acquire
from tests.workflows.doubles import Doubles, Script
from tests.workflows.driver import Driver
from workers.surplus import DropSurplusInput
from workers.worker import WORKFLOWS, workflow_runner
from workflows.contract import ReleaseId, SearchAttribute

SERVER_SETTINGS = {
    "system.enableActivityEagerExecution": "true",
    "limit.historyCount.suggestContinueAsNew": "200",
}


@pytest.fixture(scope="session")
async def temporal(say: Callable[[str], None]) -> AsyncIterator[Client]:
    """A Temporal server of the tests' own, in memory."""
    settings = [f"{name}={value}" for name, value in SERVER_SETTINGS.items()]
    attributes = [
        SearchAttributeKey.for_bool(name)
        if name is SearchAttribute.CHANGED
        else SearchAttributeKey.for_keyword(name)
        for name in SearchAttribute
    ]
    async with await WorkflowEnvironment.start_local(
        data_converter=pydantic_data_converter,
        identity="convoy-tests",
        search_attributes=attributes,
        dev_server_existing_path=str(acquire("temporal", say=say)),
        dev_server_startup_timeout=timedelta(seconds=60),
        dev_server_log_level="error",
        dev_server_extra_args=[part for one in settings for part in ("--dynamic-config-value", one)],
    ) as environment:
        yield environment.client


@pytest.fixture(scope="session", params=[1000, 0], ids=["cached", "replayed"])
async def worker(temporal: Client, request: pytest.FixtureRequest) -> AsyncIterator[tuple[str, Doubles]]:
    """A running worker: its task queue and its doubles."""
    doubles = Doubles()
    queue = f"convoy-{request.param}"
    async with Worker(
        temporal,
        task_queue=queue,
        workflows=WORKFLOWS,
        activities=doubles.activities(),
        workflow_runner=workflow_runner(),
        interceptors=[DropSurplusInput()],
        max_cached_workflows=request.param,
        build_id="tests",
    ):
        yield queue, doubles


@pytest.fixture
def release() -> ReleaseId:
    """The name of a Release that no other test has."""
    return ReleaseId("team", f"app-{secrets.token_hex(4)}")


@pytest.fixture
def script(worker: tuple[str, Doubles], release: ReleaseId) -> Script:
    """What the activities of this test's Release answer."""
    return worker[1].script(release, uid="uid-1")


@pytest.fixture
async def driver(
    temporal: Client, worker: tuple[str, Doubles], release: ReleaseId, script: Script
) -> AsyncIterator[Driver]:
    """Sends signals and updates to the workflows of this test's Release, and ends what is open at the end."""
    yield Driver(temporal, worker[0], release)
    for workflow_id in (release.sync, release.drift):
        with suppress(RPCError):
            await temporal.get_workflow_handle(workflow_id).terminate("the test is over")


class _FailedTasks(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.failures: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if getattr(record, "__temporal_error_identifier", "") == "WorkflowTaskFailure":
            self.failures.append(f"{record.getMessage()}: {record.exc_info and record.exc_info[1]!r}")


@pytest.fixture(autouse=True)
def no_workflow_task_fails() -> Iterator[None]:
    """An exception in workflow code fails its task for ever, where nobody sees it: no test may pass with one."""
    failed = _FailedTasks()
    logger = logging.getLogger("temporalio")
    logger.addHandler(failed)
    yield
    logger.removeHandler(failed)
    assert failed.failures == []
