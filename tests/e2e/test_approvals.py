"""Approval hooks: a sync waits for a person, and says who it was (D27)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from temporalio.testing import ActivityEnvironment

from activities.hooking import Hooking
from activities.services import Services
from tests.e2e.harness.api import Api
from tests.e2e.harness.convoy import Convoy, condition_of
from tests.e2e.hooked import FAILS, GO, hook_of, hooked, job, new_render, runs, told
from tests.e2e.tenant import Tenant, is_settled
from tests.e2e.test_temporal_cli import Cli
from workflows.contract import Approved, ApproveInput, HookRun, ReleaseId


@pytest.fixture
def api(tenant: Tenant) -> Callable[[], Api]:
    return lambda: Api(tenant.home, tenant.namespace, "app")


async def waits(tenant: Tenant) -> None:
    await tenant.applied("app", "WaitingForApproval")


async def test_a_sync_waits_for_a_person_before_anything_is_applied(
    tenant: Tenant, api: Callable[[], Api]
) -> None:
    await hooked(tenant, job("migrate"), {**GO, "batch": 1})
    await waits(tenant)
    tree = await tenant.get("app")
    message = condition_of(tree, "Applied")["message"]
    assert f"kubectl convoy release approve app -n {tenant.namespace} --hook go" in message
    assert await tenant.config_map("box") is None

    answer = await api().as_user("eve").call("POST", "approve", hook="go", code=403)
    assert answer["reason"] == "Forbidden"
    answer = await api().call("POST", "approve", hook="go")

    hook = hook_of(await tenant.get("app"), "go")
    assert (hook["phase"], hook["approvedBy"]) == ("Approved", answer["approvedBy"]), "before the answer"
    tree = await tenant.applied("app")
    hook = hook_of(tree, "go")
    assert hook["phase"] == "Approved"
    assert hook["approvedBy"] == answer["approvedBy"] != ""
    assert hook["startedAt"] <= hook["finishedAt"]
    assert runs(tree)["migrate"] == ("Succeeded", 1)
    assert [reason for reason, note in await told(tenant) if "hook go" in note] == [
        "ApprovalWanted",
        "HookApproved",
    ]


async def test_an_approval_is_for_one_render(tenant: Tenant, api: Callable[[], Api]) -> None:
    await hooked(tenant, GO)
    await waits(tenant)
    await api().call("POST", "approve", hook="go")
    await tenant.applied("app")

    await tenant.sync("app")
    await tenant.applied("app")
    await new_render(tenant, "2")

    await waits(tenant)
    assert runs(await tenant.get("app")) == {"go": ("Pending", 2)}
    box = await tenant.config_map("box")
    assert box is not None
    assert box["data"] == {"v": "1"}


async def test_a_newer_render_asks_again(tenant: Tenant, api: Callable[[], Api]) -> None:
    await hooked(tenant, GO)
    await waits(tenant)

    await new_render(tenant, "2")

    await tenant.until("app", lambda tree: runs(tree) == {"go": ("Pending", 2)})
    await waits(tenant)
    await api().call("POST", "approve", hook="go")
    await tenant.applied("app")
    box = await tenant.config_map("box")
    assert box is not None
    assert box["data"] == {"v": "2"}


async def test_what_does_not_wait_cannot_be_approved(tenant: Tenant, api: Callable[[], Api]) -> None:
    await hooked(tenant, {**GO, "batch": 1}, job("migrate", FAILS))
    await tenant.applied("app", "HookFailed")

    unknown = await api().call("POST", "approve", hook="other", code=404)
    early = await api().call("POST", "approve", hook="go", code=409)
    job_hook = await api().call("POST", "approve", hook="migrate", code=404)

    assert "it has go" in unknown["message"]
    assert "does not wait: no sync has come to it yet" in early["message"]
    assert "it has go" in job_hook["message"]


async def test_a_second_approval_comes_too_late(tenant: Tenant, api: Callable[[], Api]) -> None:
    await hooked(tenant, GO)
    await waits(tenant)
    answer = await api().call("POST", "approve", hook="go")
    await tenant.applied("app")

    late = await api().call("POST", "approve", hook="go", code=409)

    assert f"it is Approved by {answer['approvedBy']}" in late["message"]


async def test_an_approval_is_for_one_run_and_the_first_one_counts(
    services: Services, tenant: Tenant
) -> None:
    await hooked(tenant, GO)
    await waits(tenant)
    tree = await tenant.get("app")
    asked = ApproveInput(
        tree["metadata"]["uid"],
        hook_of(tree, "go")["renderRef"],
        HookRun("go", 1),
        Approved("go", by="ada", at="2026-01-02T03:04:05Z"),
    )
    environment = ActivityEnvironment()
    workflow_id = ReleaseId(tenant.namespace, "app").sync
    environment.info = replace(
        environment.info, workflow_id=workflow_id, heartbeat_timeout=timedelta(seconds=30)
    )

    async def approve(request: ApproveInput) -> str:
        answer: str = await environment.run(Hooking(services).approve_hook, request)
        return answer

    assert "is asked anew" in await approve(replace(asked, run=HookRun("go", 2)))
    assert "is asked anew" in await approve(replace(asked, render_ref="sha256:" + "0" * 64))
    assert hook_of(await tenant.get("app"), "go")["phase"] == "Pending"
    assert [await approve(asked) for _ in range(2)] == ["", ""], "a step may be made again"
    later = replace(asked.approved, by="bob")
    assert "does not wait any more" in await approve(replace(asked, approved=later))
    assert hook_of(await tenant.get("app"), "go")["approvedBy"] == "ada"


async def test_the_temporal_cli_approves_too_and_has_to_say_who(convoy: Convoy, tenant: Tenant) -> None:
    await hooked(tenant, GO)
    await waits(tenant)
    cli = Cli(convoy, tenant, "app")
    update = ("update", "execute", "--name", "approve", "--input", '"go"')
    with pytest.raises(AssertionError, match="say who approves"):
        await cli(*update)

    await cli(*update, "--input", '"mallory"')

    assert hook_of(await tenant.applied("app"), "go")["approvedBy"] == "mallory"


async def test_an_approval_that_nobody_gives_is_a_failed_hook(tenant: Tenant) -> None:
    await hooked(tenant, {**GO, "timeout": "3s"})

    tree = await tenant.applied("app", "HookFailed")

    assert condition_of(tree, "Applied")["message"] == (
        "hook go: nobody approved it within 3s\n"
        f"To ask again: kubectl convoy release sync app -n {tenant.namespace}"
    )
    assert await tenant.config_map("box") is None


async def test_in_manual_mode_a_post_sync_approval_is_wanted_until_it_is_there(
    tenant: Tenant, api: Callable[[], Api]
) -> None:
    await hooked(tenant, post=[GO], policy={"automatic": False, "interval": "2s"})
    await tenant.applied("app", "WaitingForSync")
    await tenant.sync("app")
    await tenant.until("app", lambda tree: runs(tree).get("go") == ("Pending", 1))
    await tenant.patch("app", {"spec": {"suspend": True}})
    await tenant.applied("app", "Suspended")
    await tenant.patch("app", {"spec": {"suspend": False}})
    await tenant.until("app", lambda tree: runs(tree) == {"go": ("Pending", 2)}, "a person is asked anew")
    tree = await tenant.applied("app")
    assert "history" not in tree["status"]

    ended = tree["status"]["sync"]["runId"]
    await tenant.client.get_workflow_handle(f"sync/{tenant.namespace}/app").terminate("by hand")
    await tenant.until("app", lambda tree: tree["status"]["sync"]["runId"] != ended and is_settled(tree))
    await api().call("POST", "approve", hook="go")

    tree = await tenant.recorded("app")
    assert runs(tree) == {"go": ("Approved", 2)}
    assert [entry["trigger"] for entry in tree["status"]["history"]] == ["SyncRequested"]


@pytest.mark.parametrize("automatic", [True, False], ids=["automatic", "manual"])
async def test_a_post_sync_approval_holds_up_only_what_comes_after_it(
    tenant: Tenant, api: Callable[[], Api], automatic: bool
) -> None:
    await hooked(tenant, post=[GO, job("announce", batch=1)], policy={"automatic": automatic})
    if not automatic:
        await tenant.applied("app", "WaitingForSync")
        await tenant.sync("app")
    tree = await tenant.until("app", lambda tree: hook_of(tree, "go").get("phase") == "Pending")
    tree = await tenant.applied("app")
    assert await tenant.config_map("box") is not None
    assert "announce" not in runs(tree)
    assert not {"lastSuccessful", "history"} & tree["status"].keys(), "step 8 follows step 7"
    applied = tree["status"]["unrecorded"]["renderRef"]

    await api().call("POST", "approve", hook="go")

    await tenant.until("app", lambda tree: runs(tree).get("announce") == ("Succeeded", 1))
    tree = await tenant.recorded("app")
    assert tree["status"]["lastSuccessful"]["renderRef"] == applied
    assert [entry["renderRef"] for entry in tree["status"]["history"]] == [applied]
