"""Request annotations that people write by hand: told where they are no time, and no request."""

from __future__ import annotations

from convoy.api.names import SYNC_FORCE_REQUESTED_AT, SYNC_REQUESTED_AT
from tests.e2e.tenant import Tenant, applied_of, config_map


async def annotate(tenant: Tenant, name: str, value: str | None) -> None:
    await tenant.patch("app", {"metadata": {"annotations": {name: value}}})


async def test_in_automatic_mode_it_is_told_too(tenant: Tenant) -> None:
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace)})
    await tenant.applied("app")
    await annotate(tenant, SYNC_FORCE_REQUESTED_AT, "now, please")
    await annotate(tenant, SYNC_REQUESTED_AT, "soon")
    tree = await tenant.until(
        "app", lambda tree: "'soon'" in applied_of(tree)["message"], "a message that tells of it"
    )
    assert applied_of(tree)["status"] == "True"
    assert "'now, please'" in applied_of(tree)["message"]
    assert "lastHandledForceSyncAt" not in tree["status"], "it is no force request"
    assert "requestedAt" not in tree["status"]["lastAttempted"]

    await annotate(tenant, SYNC_FORCE_REQUESTED_AT, None)
    await tenant.sync("app")
    tree = await tenant.applied("app")
    assert "RFC 3339" not in applied_of(tree)["message"]


async def test_a_writer_whose_clock_is_an_hour_ahead_delays_nobody(tenant: Tenant) -> None:
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace)}, policy={"automatic": False})
    await tenant.applied("app", "WaitingForSync")
    await annotate(tenant, SYNC_REQUESTED_AT, "2099-01-01T00:00:00Z")
    await tenant.applied("app")
    # Of this clock, which is far behind the other one.
    requested = await tenant.sync("app")
    assert requested == "2099-01-01T00:00:01Z"
    tree = await tenant.applied("app")
    assert tree["status"]["lastHandledSyncAt"] == requested
