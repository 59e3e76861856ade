"""`sync`: the request, the wait, its exit codes, and what happens without the aggregated API."""

from __future__ import annotations

from convoy.api.names import SYNC_FORCE_REQUESTED_AT, SYNC_REQUESTED_AT
from tests.e2e.cli.conftest import API_SERVICE, Cli
from tests.e2e.harness.convoy import Convoy
from tests.e2e.tenant import Tenant, config_map

MANUAL = {"automatic": False, "retryBackoff": {"initial": "1h"}}


async def manual(tenant: Tenant, namespace: str | None = None) -> None:
    await tenant.release("shop", {"a.yaml": config_map("a", namespace or tenant.namespace)}, policy=MANUAL)
    await tenant.applied("shop", "WaitingForSync")


async def test_a_sync_without_wait_is_a_request(cli: Cli, tenant: Tenant) -> None:
    await manual(tenant)
    (line,) = (await cli("release", "sync", "shop")).lines
    tree = await tenant.applied("shop")
    requested = tree["metadata"]["annotations"][SYNC_REQUESTED_AT]
    assert line == f"release.convoy.kumodo.io/shop sync requested ({requested})"
    assert SYNC_FORCE_REQUESTED_AT not in tree["metadata"]["annotations"]


async def test_with_wait_it_tells_the_waves_and_ends_when_they_are_applied(cli: Cli, tenant: Tenant) -> None:
    await manual(tenant)
    done = await cli("release", "sync", "shop", "--wait")
    assert "wave 0: Applied, 1 of 1 objects" in done.lines
    assert done.lines[-1].startswith("done: ")
    assert await tenant.config_map("a") is not None
    assert "\x1b" not in done.out, "no colours off a terminal"


async def test_a_forced_sync_writes_both_annotations(cli: Cli, tenant: Tenant) -> None:
    await manual(tenant)
    await cli("release", "sync", "shop", "--force", "--wait")
    annotations = (await tenant.get("shop"))["metadata"]["annotations"]
    assert annotations[SYNC_FORCE_REQUESTED_AT] == annotations[SYNC_REQUESTED_AT]


async def test_a_failed_sync_ends_with_1_and_its_reason(cli: Cli, tenant: Tenant) -> None:
    await manual(tenant, "missing-" + tenant.namespace)
    done = await cli("release", "sync", "shop", "--wait", code=1)
    assert done.error.startswith("error: Unappliable: ")
    assert done.error.count("\n") == 1


async def test_a_suspended_release_is_told_at_once(cli: Cli, tenant: Tenant) -> None:
    await manual(tenant)
    await cli("release", "suspend", "shop")
    await tenant.applied("shop", "Suspended")
    done = await cli("release", "sync", "shop", "--wait", code=1)
    assert "Suspended" in done.error


async def test_a_wait_ends_at_its_timeout(cli: Cli, tenant: Tenant) -> None:
    # A Release waits for one of a lower cluster wave, which nobody applies.
    await tenant.release("base", {"a.yaml": config_map("a", tenant.namespace)}, policy=MANUAL)
    await tenant.applied("base", "WaitingForSync")
    await tenant.release("shop", {"b.yaml": config_map("b", tenant.namespace)}, policy=MANUAL, clusterWave=1)
    await tenant.applied("shop", "WaitingForSync")
    done = await cli("release", "sync", "shop", "--wait", "--timeout", "3s", code=1)
    assert done.error.startswith("error: timed out after 3s: Applied is False (WaitingFor")
    assert done.error.count("\n") == 1


async def test_a_timeout_that_is_none_is_refused_before_anything_is_asked(cli: Cli, tenant: Tenant) -> None:
    await manual(tenant)
    assert "--timeout" in await cli.refused("release", "sync", "shop", "--wait", "--timeout", "soon", code=2)
    assert SYNC_REQUESTED_AT not in (await tenant.get("shop"))["metadata"].get("annotations", {})


async def test_without_the_aggregated_api_the_request_is_an_annotation(
    cli: Cli, tenant: Tenant, convoy: Convoy
) -> None:
    await manual(tenant)
    service = await convoy.objects.get(API_SERVICE)
    assert service is not None
    await convoy.objects.delete(API_SERVICE)
    try:
        refused = await cli.refused("release", "diff", "shop", code=2)
        assert "APIService" in refused
        assert "install" in refused
        done = await cli("release", "sync", "shop", "--wait")
        assert done.error.startswith("note: this cluster has no aggregated API of convoy")
        assert await tenant.config_map("a") is not None
    finally:
        kept = {"name": service["metadata"]["name"]}
        spec = {"apiVersion": service["apiVersion"], "kind": service["kind"], "spec": service["spec"]}
        await convoy.objects.apply({**spec, "metadata": kept}, manager="e2e")
