"""Manual mode: convoy renders and reports, and applies only after a /sync request (`reference/sync-policy`)."""

from __future__ import annotations

from convoy.api.names import SYNC_REQUESTED_AT
from tests.e2e.tenant import Tenant, applied_of, config_map

MANUAL = {"automatic": False, "retryBackoff": {"initial": "1h"}}


async def test_without_a_request_nothing_is_applied_not_even_dry(tenant: Tenant) -> None:
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace, v="1")}, policy=MANUAL)
    tree = await tenant.applied("app", "WaitingForSync")
    assert applied_of(tree)["status"] == "False"
    assert "lastAttempted" not in tree["status"]
    assert await tenant.config_map("a") is None
    assert set(await tenant.steps("app")) == {"resolve", "record"}


async def test_a_policy_that_does_not_say_is_manual(tenant: Tenant) -> None:
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace)}, policy={"automatic": None})
    await tenant.applied("app", "WaitingForSync")


async def test_a_request_applies_and_is_handled_with_the_value_of_the_annotation(tenant: Tenant) -> None:
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace, v="1")}, policy=MANUAL)
    await tenant.applied("app", "WaitingForSync")
    # Not of this clock: what is handled is the annotation's value, and never a clock's (D22).
    requested = "2031-02-03T04:05:06Z"
    await tenant.patch("app", {"metadata": {"annotations": {SYNC_REQUESTED_AT: requested}}})
    tree = await tenant.applied("app")
    assert tree["status"]["lastHandledSyncAt"] == requested
    assert tree["status"]["lastAttempted"]["requestedAt"] == requested
    assert await tenant.config_map("a") is not None

    later = await tenant.sync("app")
    assert later > requested, "a request after one from the future is later still"
    tree = await tenant.applied("app")
    assert tree["status"]["lastHandledSyncAt"] == later


async def test_an_applied_render_waits_for_sync_as_applied_and_a_new_one_as_waiting(tenant: Tenant) -> None:
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace, v="1")}, policy=MANUAL)
    await tenant.applied("app", "WaitingForSync")
    await tenant.sync("app")
    applied = await tenant.applied("app")
    steps = len(await tenant.steps("app"))

    # Another spec that renders the same: equal to lastSuccessful.renderRef.
    await tenant.patch("app", {"spec": {"historyLimit": 3}})
    tree = await tenant.applied("app")
    message = applied_of(tree)["message"]
    assert applied_of(tree)["status"] == "True"
    assert "in sync" in message
    assert "/sync" in message
    assert tree["status"]["lastSuccessful"] == applied["status"]["lastSuccessful"]
    assert (await tenant.steps("app"))[steps:] == ["resolve", "record"]

    await tenant.files("app", {"a.yaml": config_map("a", tenant.namespace, v="2")})
    tree = await tenant.applied("app", "WaitingForSync")
    assert applied["status"]["lastSuccessful"]["renderRef"][:19] in applied_of(tree)["message"]
    assert tree["status"]["lastSuccessful"] == applied["status"]["lastSuccessful"]
    live = await tenant.config_map("a")
    assert live is not None
    assert live["data"] == {"v": "1"}


async def test_a_request_stays_pending_until_an_apply_succeeds(tenant: Tenant) -> None:
    broken = config_map("a", "missing-" + tenant.namespace)
    await tenant.release("app", {"a.yaml": broken}, policy=MANUAL)
    await tenant.applied("app", "WaitingForSync")
    requested = await tenant.sync("app")
    tree = await tenant.applied("app", "Unappliable")
    assert "lastHandledSyncAt" not in tree["status"]
    await tenant.files("app", {"a.yaml": config_map("a", tenant.namespace)})
    tree = await tenant.applied("app")
    assert tree["status"]["lastHandledSyncAt"] == requested


async def test_a_request_of_automatic_mode_is_not_pending_when_the_mode_becomes_manual(
    tenant: Tenant,
) -> None:
    automatic = {"automatic": True, "retryBackoff": {"initial": "1h"}}
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace, v="1")}, policy=automatic)
    await tenant.applied("app")
    requested = await tenant.sync("app")  # a self-heal asks the same way
    tree = await tenant.applied("app")
    assert tree["status"]["lastHandledSyncAt"] == requested

    files = {"a.yaml": config_map("a", tenant.namespace, v="unasked")}
    await tenant.patch(
        "app", {"spec": {"syncPolicy": {"automatic": False}, "source": {"inline": {"files": files}}}}
    )
    await tenant.applied("app", "WaitingForSync")
    live = await tenant.config_map("a")
    assert live is not None
    assert live["data"] == {"v": "1"}


async def test_an_annotation_that_is_no_time_is_told_and_applies_nothing(tenant: Tenant) -> None:
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace)}, policy=MANUAL)
    await tenant.applied("app", "WaitingForSync")
    await tenant.patch("app", {"metadata": {"annotations": {SYNC_REQUESTED_AT: "soon"}}})
    tree = await tenant.applied("app", "WaitingForSync")
    assert "no RFC 3339 time" in applied_of(tree)["message"]
    assert await tenant.config_map("a") is None
    await tenant.sync("app")
    await tenant.applied("app")
