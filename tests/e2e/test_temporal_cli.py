"""What an operator does with the Temporal command line alone, against the real thing."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from temporalio.api.enums.v1 import PendingActivityState

from convoy.api.names import SYNC_FORCE_REQUESTED_AT, SYNC_REQUESTED_AT
from tests.e2e.harness.convoy import Convoy
from tests.e2e.held_git import held_git
from tests.e2e.tenant import Tenant, config_map, failed_tasks

MANUAL = {"automatic": False, "retryBackoff": {"initial": "1h"}}


class Cli:
    """`temporal workflow …` for one Release."""

    def __init__(self, convoy: Convoy, tenant: Tenant, name: str) -> None:
        self._convoy = convoy
        self._id = f"{tenant.namespace}/{name}"

    async def __call__(self, *arguments: str, kind: str = "sync", command: str = "workflow") -> Any:
        process = await asyncio.create_subprocess_exec(
            self._convoy.stack.tool("temporal"), command, *arguments,
            "--workflow-id", f"{kind}/{self._id}",
            "--address", self._convoy.stack.temporal_address, "--output", "json",
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        out, err = await process.communicate()
        assert process.returncode == 0, err.decode()
        return json.loads(out) if out.strip() else None

    async def with_start(self, command: str, *arguments: str) -> Any:
        queue = self._convoy.settings.task_queue
        return await self(command, "--type", "Sync", "--task-queue", queue, *arguments)


async def waiting(convoy: Convoy, tenant: Tenant) -> Cli:
    """A Release in manual mode that waits for /sync."""
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace, v="1")}, policy=MANUAL)
    await tenant.applied("app", "WaitingForSync")
    return Cli(convoy, tenant, "app")


async def test_signal_with_start_requests_a_sync_that_kubernetes_shows(
    convoy: Convoy, tenant: Tenant
) -> None:
    cli = await waiting(convoy, tenant)
    await cli.with_start("signal-with-start", "--signal-name", "sync")
    tree = await tenant.until("app", lambda tree: "lastHandledSyncAt" in tree["status"], "a handled /sync")
    assert tree["metadata"]["annotations"][SYNC_REQUESTED_AT] == tree["status"]["lastHandledSyncAt"]
    assert await tenant.config_map("a") is not None


async def test_update_with_start_answers_with_the_outcome(convoy: Convoy, tenant: Tenant) -> None:
    cli = await waiting(convoy, tenant)
    update = ("execute-update-with-start", "--update-name", "sync", "--id-conflict-policy", "UseExisting")
    answer = result_of(await cli.with_start(*update))
    tree = await tenant.get("app")
    assert (answer["reason"], answer["status"]) == ("Applied", "True")
    assert answer["render_ref"] == tree["status"]["lastSuccessful"]["renderRef"]
    assert answer["requested_at"] == tree["status"]["lastHandledSyncAt"]

    await tenant.patch("app", {"spec": {"suspend": True}})
    answer = result_of(await cli.with_start(*update))
    assert (answer["reason"], answer["status"]) == ("Suspended", "False"), "a hold is an answer, too"


async def test_a_forced_update_is_a_forced_sync(convoy: Convoy, tenant: Tenant) -> None:
    cli = await waiting(convoy, tenant)
    answer = await cli.with_start(
        "execute-update-with-start", "--update-name", "sync", "--update-input", "true",
        "--id-conflict-policy", "UseExisting",
    )  # fmt: skip
    assert result_of(answer)["reason"] == "Applied"
    tree = await tenant.get("app")
    assert (
        tree["metadata"]["annotations"][SYNC_FORCE_REQUESTED_AT] == tree["status"]["lastHandledForceSyncAt"]
    )
    assert "dry-run" not in await tenant.steps("app")


async def test_the_state_query_and_describe_tell_how_things_stand(convoy: Convoy, tenant: Tenant) -> None:
    cli = await waiting(convoy, tenant)
    await tenant.sync("app")
    await tenant.applied("app")
    await tenant.closed("app")
    state = queried(await cli("query", "--type", "state"))
    assert (state["phase"], state["reason"], state["waves_done"]) == ("Settled", "Applied", 1)
    drift = queried(await cli("query", "--type", "state", kind="drift"))
    assert drift["failures"] == 0
    described = await cli("describe")
    attributes = described["workflowExecutionInfo"]["searchAttributes"]["indexedFields"]
    assert {"ConvoyRelease", "ConvoyCluster", "ConvoyPhase", "ConvoyTrigger", "ConvoyRender"} <= set(
        attributes
    )


async def test_resetting_a_sync_that_is_done_does_no_harm(convoy: Convoy, tenant: Tenant) -> None:
    cli = await waiting(convoy, tenant)
    await tenant.sync("app")
    before = await tenant.applied("app")
    live = await tenant.config_map("a")
    await tenant.closed("app")
    await cli("reset", "--type", "FirstWorkflowTask", "--reason", "a test", "--yes")
    await tenant.closed("app")
    after = await tenant.applied("app")
    assert after["status"]["history"] == before["status"]["history"]
    assert await tenant.config_map("a") == live
    for history in await tenant.histories("app"):
        assert failed_tasks(history) == []


async def test_pausing_resetting_and_going_on_with_a_step_does_no_harm(
    convoy: Convoy, tenant: Tenant
) -> None:
    cli = Cli(convoy, tenant, "app")
    async with held_git() as (url, arrived, let_go):
        await tenant.release("app", source={"git": {"url": url}}, policy={"retryBackoff": {"initial": "1h"}})
        async with asyncio.timeout(60):
            await arrived.wait()
        await cli("pause", "--activity-id", "resolve", command="activity")
        await in_state(tenant, PendingActivityState.PENDING_ACTIVITY_STATE_PAUSED)
        arrived.clear()
        await cli("reset", "--activity-id", "resolve", "--keep-paused", command="activity")
        await cli("unpause", "--activity-id", "resolve", command="activity")
        async with asyncio.timeout(60):
            await arrived.wait()
        let_go.set()
        await tenant.applied("app", "SourceNotReady")
    files = {"inline": {"files": {"a.yaml": config_map("a", tenant.namespace)}}}
    await tenant.patch("app", {"spec": {"source": {"git": None, **files}}})
    await tenant.applied("app")
    for history in await tenant.histories("app"):
        assert failed_tasks(history) == []


async def test_terminating_a_sync_in_the_middle_is_made_up_for_by_the_next_request(
    convoy: Convoy, tenant: Tenant
) -> None:
    cli = Cli(convoy, tenant, "app")
    async with held_git() as (url, arrived, let_go):
        await tenant.release("app", source={"git": {"url": url}}, policy={"retryBackoff": {"initial": "1h"}})
        async with asyncio.timeout(60):
            await arrived.wait()
        await cli("terminate", "--reason", "a test")
        let_go.set()
        await tenant.sync("app")
        await tenant.applied("app", "SourceNotReady")


async def test_input_of_another_shape_is_refused_and_fails_nothing(convoy: Convoy, tenant: Tenant) -> None:
    cli = await waiting(convoy, tenant)
    process = await asyncio.create_subprocess_exec(
        convoy.stack.tool("temporal"), "workflow", "execute-update-with-start", "--update-name", "sync",
        "--update-input", '{"nonsense": 1}', "--type", "Sync", "--task-queue", convoy.settings.task_queue,
        "--id-conflict-policy", "UseExisting", "--workflow-id", f"sync/{tenant.namespace}/app",
        "--address", convoy.stack.temporal_address,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    await process.communicate()
    assert process.returncode != 0
    assert await tenant.config_map("a") is None
    await cli.with_start("signal-with-start", "--signal-name", "sync")
    await tenant.applied("app")
    for history in await tenant.histories("app"):
        assert failed_tasks(history) == []


async def in_state(tenant: Tenant, state: PendingActivityState.ValueType) -> None:
    """Wait until the running step of a sync is in a state."""
    handle = tenant.client.get_workflow_handle(f"sync/{tenant.namespace}/app")
    async with asyncio.timeout(60):
        while True:
            pending = (await handle.describe()).raw_description.pending_activities
            if any(each.state == state for each in pending):
                return
            await asyncio.sleep(0.1)


def result_of(answer: Any) -> Any:
    return answer["updateResult"]


def queried(answer: Any) -> Any:
    return answer["queryResult"][0]
