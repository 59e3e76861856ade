"""A real Temporal server, a worker with scripted activities, and a Release of its own for each test.

Each test runs twice: with a workflow cache, and without one, where every workflow task replays the whole history.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress

import pytest
from temporalio.client import Client
from temporalio.service import RPCError

from tests.workflows.doubles import Doubles, Script
from tests.workflows.driver import Driver
from tests.workflows.gating import CLOSED, put_gate
from tests.workflows.server import scripted_worker, temporal_server
from workflows import gates
from workflows.contract import Activity, ReleaseId, Settled


@pytest.fixture(scope="session")
async def temporal(say: Callable[[str], None]) -> AsyncIterator[Client]:
    """A Temporal server of the tests' own."""
    async with temporal_server(say=say) as client:
        yield client


@pytest.fixture(scope="session", params=[1000, 0], ids=["cached", "replayed"])
async def worker(temporal: Client, request: pytest.FixtureRequest) -> AsyncIterator[tuple[str, Doubles]]:
    """A running worker: its task queue and its doubles."""
    doubles = Doubles()
    queue = f"convoy-{request.param}"
    async with scripted_worker(temporal, queue, doubles, cached=request.param):
        yield queue, doubles


@pytest.fixture
def no_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gate that is found closed is a wait at once; the tests of the moment that it gives set their own."""
    monkeypatch.setattr(gates, "GRACE", 0.0)


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
    temporal: Client, worker: tuple[str, Doubles], release: ReleaseId, script: Script, no_grace: None
) -> AsyncIterator[Driver]:
    """Sends signals and updates to the workflows of this test's Release, and ends what is open at the end."""
    yield Driver(temporal, worker[0], release)
    for workflow_id in (release.sync, release.drift, release.health):
        with suppress(RPCError):
            await temporal.get_workflow_handle(workflow_id).terminate("the test is over")


@pytest.fixture
def gated(script: Script) -> Script:
    """Three waves; the last one waits until the one before it is healthy."""
    return put_gate(script)


@pytest.fixture
async def waiting(driver: Driver, gated: Script) -> Settled:
    """A sync that waits at the gate."""
    gated.answer(Activity.CHECK_HEALTH, *CLOSED)
    return await driver.sync_now()


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
