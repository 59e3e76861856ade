"""Waves with strategy Health on a real cluster: what opens a gate, and what ends the wait at it (D25)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from temporalio.client import WorkflowFailureError
from temporalio.exceptions import ApplicationError

from activities.signals import Signals
from convoy.api.names import HEALTH_REQUESTED_AT
from convoy.api.objects import Manifest, ObjectKey
from convoy.kube.resources import CONFIG_MAPS
from tests.e2e.gated import GATE, make_ready, shop, stuck, waves_of
from tests.e2e.harness.convoy import Convoy
from tests.e2e.tenant import Tenant, applied_of, config_map, failed_tasks
from tests.waiting import eventually
from workflows.contract import ReleaseId, Watch


async def test_a_gate_opens_when_the_wave_before_is_healthy(tenant: Tenant) -> None:
    await tenant.release("shop", shop(tenant.namespace), syncWaves=GATE)
    tree = await tenant.applied("shop")
    assert waves_of(tree) == [(0, "Apply", "Healthy"), (1, "Health", "Applied")]
    assert await tenant.config_map("flour") is not None


async def test_a_wave_that_is_not_healthy_keeps_the_next_one_from_starting(tenant: Tenant) -> None:
    tree = await stuck(tenant)
    assert await tenant.config_map("flour") is None
    assert waves_of(tree) == [(0, "Apply", "WaitingForHealth"), (1, "Health", "Pending")]
    message = applied_of(tree)["message"]
    assert message.startswith("wave 1 waits until 20")
    assert f"{tenant.namespace}/mill" in message
    assert tree["status"]["lastAttempted"]["reason"] == "WaitingForWave"
    assert "lastSuccessful" not in tree["status"]


async def test_a_wave_that_becomes_healthy_during_the_wait_opens_the_gate_in_the_same_run(
    convoy: Convoy, tenant: Tenant
) -> None:
    waits = await stuck(tenant)
    await make_ready(convoy, tenant)
    tree = await tenant.applied("shop")
    assert waves_of(tree) == [(0, "Apply", "Healthy"), (1, "Health", "Applied")]
    assert tree["status"]["sync"]["runId"] == waits["status"]["sync"]["runId"]
    applied = [
        event.activity_task_scheduled_event_attributes.activity_id
        for history in await tenant.histories("shop")
        for event in history.events
        if event.activity_task_scheduled_event_attributes.activity_type.name == "apply-wave"
    ]
    # The health of the whole render asks for one more pass, which may have begun by now.
    assert applied[:2] == ["apply-wave-0", "apply-wave-1"], "the finished wave is not applied again"


async def test_a_gate_that_stays_closed_fails_the_sync_at_its_timeout_and_names_the_objects(
    tenant: Tenant,
) -> None:
    gate = [{"wave": 1, "strategy": "Health", "timeout": "1s"}]
    policy = {"retryBackoff": {"initial": "1h", "max": "1h"}}
    await tenant.release("shop", shop(tenant.namespace, ready=False), syncWaves=gate, policy=policy)
    tree = await tenant.applied("shop", "DeployFailed")
    message = applied_of(tree)["message"]
    assert message.startswith("wave 1 is not applied, since wave 0 is not healthy after 1s: ")
    assert f"{tenant.namespace}/mill" in message
    assert waves_of(tree) == [(0, "Apply", "Failed"), (1, "Health", "Pending")]
    run = tenant.client.get_workflow_handle(ReleaseId(tenant.namespace, "shop").sync)
    with pytest.raises(WorkflowFailureError) as failed:
        await run.result()
    assert isinstance(failed.value.cause, ApplicationError)
    assert failed.value.cause.type == "DeployFailed"


async def test_a_newer_render_ends_the_wait(tenant: Tenant) -> None:
    await stuck(tenant)
    await tenant.files("shop", shop(tenant.namespace, ready=True, version="2"))
    await tenant.applied("shop")
    live = await tenant.config_map("flour")
    assert live is not None
    assert live["data"] == {"version": "2"}


async def test_a_suspended_release_waits_no_longer_and_a_resumed_one_waits_again(tenant: Tenant) -> None:
    waits = await stuck(tenant)
    await tenant.patch("shop", {"spec": {"suspend": True}})
    await tenant.applied("shop", "Suspended")
    run = tenant.client.get_workflow_handle(ReleaseId(tenant.namespace, "shop").sync)
    assert (await run.result())["reason"] == "Suspended"
    await tenant.patch("shop", {"spec": {"suspend": False}})
    again = await tenant.applied("shop", "WaitingForWave")
    assert again["status"]["sync"]["runId"] != waits["status"]["sync"]["runId"]


async def test_a_deletion_ends_the_wait_with_the_teardown(convoy: Convoy, tenant: Tenant) -> None:
    await stuck(tenant, policy={"onDelete": "Prune"})
    await tenant.delete("shop")
    await tenant.gone("shop")
    mill = ObjectKey("apps", "Deployment", tenant.namespace, "mill")
    live = await convoy.objects.get(mill)
    assert live is None or "deletionTimestamp" in live["metadata"]


async def test_a_forced_sync_begins_again_with_a_deadline_of_its_own(tenant: Tenant) -> None:
    waits = await stuck(tenant)
    await tenant.sync("shop", force=True)
    again = await tenant.until(
        "shop",
        lambda tree: "lastHandledForceSyncAt" in tree["status"] and "settledAt" in tree["status"]["sync"],
    )
    assert applied_of(again)["reason"] == "WaitingForWave"
    assert applied_of(again)["message"] != applied_of(waits)["message"]
    assert again["status"]["lastAttempted"]["trigger"] == "SyncRequested"


async def test_ticks_apply_the_finished_wave_again_and_keep_the_deadline(tenant: Tenant) -> None:
    waits = await stuck(tenant, policy={"interval": "1s"})

    async def applied_again() -> bool:
        return (await tenant.steps("shop")).count("apply-wave") >= 3

    await eventually(applied_again, within=tenant.patience)
    tree = await tenant.applied("shop", "WaitingForWave")
    assert applied_of(tree)["message"].split(":")[:3] == applied_of(waits)["message"].split(":")[:3]
    assert tree["status"]["sync"]["runId"] == waits["status"]["sync"]["runId"]
    assert await tenant.config_map("flour") is None
    (history,) = await tenant.histories("shop")
    assert failed_tasks(history) == []


async def test_what_is_not_applied_yet_is_drift_that_nobody_heals(convoy: Convoy, tenant: Tenant) -> None:
    await stuck(tenant)
    report = await convoy.check(ReleaseId(tenant.namespace, "shop"))
    assert (report.verdict, report.missing, report.heal) == ("Drifted", 1, False)


async def test_an_unchanged_render_goes_through_its_gates_without_a_look(tenant: Tenant) -> None:
    await tenant.release("shop", shop(tenant.namespace), syncWaves=GATE)
    first = await tenant.applied("shop")
    looks = (await tenant.steps("shop")).count("check-health")
    await tenant.sync("shop")
    second = await tenant.applied("shop")
    assert (await tenant.steps("shop")).count("check-health") == looks
    since = [applied_of(tree)["lastTransitionTime"] for tree in (first, second)]
    assert since[0] == since[1], "Applied has not flipped"


async def test_a_prune_after_health_waits_for_the_whole_render(convoy: Convoy, tenant: Tenant) -> None:
    policy = {"prune": {"orphaned": True, "afterHealthy": True}}
    await tenant.release("shop", shop(tenant.namespace), policy=policy)
    await tenant.applied("shop")
    files: dict[str, str | None] = {**shop(tenant.namespace, ready=False, name="mill-2"), "flour.yaml": None}
    await tenant.files("shop", files)
    tree = await tenant.applied("shop", "WaitingForHealth")
    assert f"{tenant.namespace}/mill-2" in applied_of(tree)["message"]
    assert [phase for *_, phase in waves_of(tree)] == ["WaitingForHealth"]
    assert await tenant.config_map("flour") is not None
    await make_ready(convoy, tenant)
    tree = await tenant.applied("shop")
    assert [phase for *_, phase in waves_of(tree)] == ["Healthy"]
    assert await tenant.config_map("flour") is None


async def test_the_failures_of_a_gate_that_has_timed_out_add_up_until_its_wave_is_healthy(
    convoy: Convoy, tenant: Tenant
) -> None:
    gate = [{"wave": 1, "strategy": "Health", "timeout": "1s"}]
    policy = {"retryBackoff": {"initial": "1s", "factor": 1}}
    await tenant.release("shop", shop(tenant.namespace, ready=False), syncWaves=gate, policy=policy)
    tree = await tenant.until("shop", lambda tree: failures_of(tree) >= 3, "its third failure in a row")
    assert applied_of(tree)["reason"] == "DeployFailed"
    await make_ready(convoy, tenant)
    tree = await tenant.applied("shop")
    assert waves_of(tree) == [(0, "Apply", "Healthy"), (1, "Health", "Applied")]


async def test_a_gate_that_has_timed_out_for_the_render_that_is_applied_already_stays_closed(
    tenant: Tenant,
) -> None:
    policy = {"retryBackoff": {"initial": "1s", "factor": 1}}
    await tenant.release("shop", shop(tenant.namespace, ready=False), policy=policy)
    await tenant.applied("shop")
    gate = [{"wave": 1, "strategy": "Health", "timeout": "1s"}]
    await tenant.patch("shop", {"spec": {"syncWaves": gate}})
    await tenant.applied("shop")
    await tenant.sync("shop", force=True)
    tree = await tenant.until("shop", lambda tree: failures_of(tree) >= 2, "its second failure in a row")
    assert applied_of(tree)["reason"] == "DeployFailed"
    assert waves_of(tree) == [(0, "Apply", "Failed"), (1, "Health", "Pending")]


async def test_what_is_healthy_again_when_it_is_watched_is_told_to_the_sync_that_waits(
    convoy: Convoy, tenant: Tenant
) -> None:
    await tenant.release("shop", {"flour.yaml": config_map("flour", tenant.namespace)})
    tree = await tenant.applied("shop")
    assert tree["status"]["history"][0]["healthyAt"], "so that its health is no news"
    signals = Signals(tenant.client, task_queue=convoy.settings.task_queue, resync=timedelta())
    watch = Watch(tree["metadata"]["uid"], tree["status"]["lastSuccessful"]["renderRef"], gate=True)
    await signals.watch(ReleaseId(tenant.namespace, "shop"), watch)
    await tenant.until(
        "shop", lambda tree: HEALTH_REQUESTED_AT in (tree["metadata"].get("annotations") or {}), "the request"
    )


async def test_what_drifts_while_a_prune_waits_is_healed(convoy: Convoy, tenant: Tenant) -> None:
    policy = {"interval": "1h", "prune": {"orphaned": True, "afterHealthy": True}}
    await tenant.release("shop", shop(tenant.namespace, ready=False), policy=policy)
    await tenant.applied("shop", "WaitingForHealth")
    await tenant.in_sync("shop")  # by the pass behind the sync, which would heal what is changed before it
    await tenant.home.patch(
        CONFIG_MAPS, tenant.namespace, "flour", {"data": {"version": "hand-made"}}, manager="hand"
    )
    report = await convoy.check(ReleaseId(tenant.namespace, "shop"))
    assert (report.verdict, report.heal) == ("Drifted", True)

    async def healed() -> bool:
        live = await tenant.config_map("flour")
        return live is not None and live["data"] == {"version": "1"}

    await eventually(healed)
    await tenant.applied("shop", "WaitingForHealth")


def failures_of(tree: Manifest) -> int:
    return int(((tree.get("status") or {}).get("retry") or {}).get("failures") or 0)
