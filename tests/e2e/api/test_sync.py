"""`POST sync` writes the request, and the watcher does the rest (`reference/sync-policy`, The /sync request)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from convoy.api.names import SYNC_FORCE_REQUESTED_AT, SYNC_REQUESTED_AT
from tests.e2e.harness.api import Api
from tests.e2e.tenant import Tenant, config_map

MANUAL = {"automatic": False}


async def test_a_request_applies_a_release_in_manual_mode(tenant: Tenant, api: Callable[[str], Api]) -> None:
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace, v="1")}, policy=MANUAL)
    await tenant.applied("app", "WaitingForSync")

    answer = await api("app").call("POST", "sync", code=201)

    tree = await tenant.applied("app")
    assert answer["kind"] == "ReleaseSync"
    assert answer["forced"] is False
    assert tree["metadata"]["annotations"][SYNC_REQUESTED_AT] == answer["requestedAt"]
    assert tree["status"]["lastHandledSyncAt"] == answer["requestedAt"]
    assert await tenant.config_map("a") is not None


async def test_a_forced_request_sets_both_annotations(tenant: Tenant, api: Callable[[str], Api]) -> None:
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace)})
    await tenant.applied("app")

    answer = await api("app").call("POST", "sync", force="true")

    tree = await tenant.applied("app")
    assert answer["forced"] is True
    annotations = tree["metadata"]["annotations"]
    assert annotations[SYNC_REQUESTED_AT] == annotations[SYNC_FORCE_REQUESTED_AT] == answer["requestedAt"]


async def test_requests_at_one_moment_get_different_times(tenant: Tenant, api: Callable[[str], Api]) -> None:
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace)}, policy=MANUAL)
    await tenant.applied("app", "WaitingForSync")

    answers = await asyncio.gather(*(api("app").call("POST", "sync") for _ in range(5)))

    times = [answer["requestedAt"] for answer in answers]
    assert len(set(times)) == 5
    assert (await tenant.get("app"))["metadata"]["annotations"][SYNC_REQUESTED_AT] == max(times)


async def test_a_dry_run_requests_nothing(tenant: Tenant, api: Callable[[str], Api]) -> None:
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace)}, policy=MANUAL)
    await tenant.applied("app", "WaitingForSync")

    assert (await api("app").call("POST", "sync", dryRun="All"))["requestedAt"]

    assert SYNC_REQUESTED_AT not in (await tenant.get("app"))["metadata"].get("annotations", {})


async def test_bad_parameters_write_nothing(tenant: Tenant, api: Callable[[str], Api]) -> None:
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace)}, policy=MANUAL)

    refused = await api("app").call("POST", "sync", code=400, force="ture")
    missing = await api("nothing").call("POST", "sync", code=404)

    assert refused["kind"] == missing["kind"] == "Status"
    assert (refused["reason"], missing["reason"]) == ("BadRequest", "NotFound")
    assert "force" in refused["message"]
    assert SYNC_REQUESTED_AT not in (await tenant.get("app"))["metadata"].get("annotations", {})
