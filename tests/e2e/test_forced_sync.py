"""A forced sync skips the dry run, once (`reference/sync-policy`, Forced sync; D24)."""

from __future__ import annotations

from convoy.api.names import SYNC_FORCE_REQUESTED_AT
from tests.e2e.tenant import Tenant, applied_of, config_map

MANUAL = {"automatic": False, "retryBackoff": {"initial": "1h"}}


async def test_a_forced_sync_skips_the_dry_run_for_one_reconcile(tenant: Tenant) -> None:
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace)}, policy=MANUAL)
    await tenant.applied("app", "WaitingForSync")
    await tenant.sync("app", force=True)
    tree = await tenant.applied("app")
    forced = tree["metadata"]["annotations"][SYNC_FORCE_REQUESTED_AT]
    assert tree["status"]["lastHandledForceSyncAt"] == forced
    assert "dry-run" not in await tenant.steps("app")

    await tenant.files("app", {"a.yaml": config_map("a", tenant.namespace, v="2")})
    await tenant.applied("app", "WaitingForSync")
    await tenant.sync("app")
    tree = await tenant.applied("app")
    assert tree["status"]["lastHandledForceSyncAt"] == forced
    assert (await tenant.steps("app")).count("dry-run") == 1


async def test_the_real_apply_still_fails_and_the_force_is_used_up(tenant: Tenant) -> None:
    await tenant.release("app", {"a.yaml": config_map("a", "missing-" + tenant.namespace)}, policy=MANUAL)
    await tenant.applied("app", "WaitingForSync")
    await tenant.sync("app", force=True)
    tree = await tenant.applied("app", "DeployFailed")
    assert "missing-" + tenant.namespace in applied_of(tree)["message"]
    assert tree["status"]["lastHandledForceSyncAt"]
    await tenant.sync("app")
    await tenant.applied("app", "Unappliable")


async def test_a_force_is_used_up_by_a_reconcile_that_waits(tenant: Tenant) -> None:
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace)}, policy=MANUAL, suspend=True)
    await tenant.applied("app", "Suspended")
    await tenant.sync("app", force=True)
    tree = await tenant.applied("app", "Suspended")
    assert tree["status"]["lastHandledForceSyncAt"]
    await tenant.patch("app", {"spec": {"suspend": False}})
    await tenant.applied("app")
    assert (await tenant.steps("app")).count("dry-run") == 1
