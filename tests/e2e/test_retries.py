"""What follows a failed reconcile (`reference/sync-policy`, Requeue rules and retryBackoff; D34)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from convoy.api.objects import Manifest
from convoy.api.times import parse_time
from convoy.kube.resources import CONFIG_MAPS, SECRETS
from tests.e2e.harness.convoy import Convoy, condition_of
from tests.e2e.tenant import Tenant, config_map, is_settled
from workflows.contract import STATE_QUERY, ReleaseId

MISSING: Any = {"configMap": {"name": "files"}}


def failures(tree: Manifest) -> int:
    retry = (tree.get("status") or {}).get("retry") or {}
    count: int = retry.get("failures", 0)
    return count


async def test_a_transient_failure_is_retried_after_the_backoff_and_the_status_says_when(
    tenant: Tenant,
) -> None:
    await tenant.release(
        "app", policy={"retryBackoff": {"initial": "1s", "factor": 2, "max": "1h"}}, source=MISSING
    )
    tree = await tenant.until("app", lambda tree: failures(tree) >= 3, "a third failure")
    assert condition_of(tree, "Applied")["reason"] == "SourceNotReady"
    settled = parse_time(tree["status"]["sync"]["settledAt"])
    due = parse_time(tree["status"]["retry"]["at"])
    # initial × factor^(n-1), read to the second on both sides.
    assert (due - settled).total_seconds() >= 2 ** (failures(tree) - 1) - 1

    await tenant.create(CONFIG_MAPS, "files", {"data": {"a.yaml": config_map("a", tenant.namespace)}})
    tree = await tenant.applied("app")
    assert tree["status"]["lastAttempted"]["trigger"] == "Retry"
    await tenant.until("app", lambda tree: "retry" not in tree["status"], "the end of the retries")


async def test_without_retry_backoff_the_default_limiter_retries_fast(tenant: Tenant) -> None:
    await tenant.release("app", source=MISSING)
    # 5 ms, doubling: nine failures are 1.3 s of waiting, and ten are due to be told in the status.
    await tenant.until("app", lambda tree: failures(tree) >= 9, "nine failures")


async def test_a_terminal_failure_waits_for_the_next_periodic_reconcile(
    convoy: Convoy, tenant: Tenant
) -> None:
    await rejected(tenant, {"retryBackoff": {"initial": "1s"}})
    assert "retry" not in (await tenant.get("app"))["status"]
    await convoy.check(ReleaseId(tenant.namespace, "app"))
    state = await tenant.client.get_workflow_handle(f"drift/{tenant.namespace}/app").query(STATE_QUERY)
    assert (state["failures"], state["next_try"]) == (0, "")
    assert await tenant.passes("app") == 1


async def test_a_periodic_reconcile_checks_a_terminal_failure_again(tenant: Tenant) -> None:
    await rejected(tenant, {"interval": "1s"})
    await tenant.until(
        "app",
        lambda tree: tree["status"]["lastAttempted"]["trigger"] == "Periodic" and is_settled(tree),
        "a periodic reconcile",
    )
    await tenant.applied("app", "Unappliable")


async def rejected(tenant: Tenant, policy: Mapping[str, Any]) -> None:
    """Make a Release whose one object is there already and cannot be changed."""
    await tenant.create(SECRETS, "frozen", {"immutable": True, "stringData": {"a": "1"}})
    frozen = f"apiVersion: v1\nkind: Secret\nmetadata: {{name: frozen, namespace: {tenant.namespace}}}\n"
    await tenant.release("app", {"a.yaml": frozen + 'stringData: {a: "2"}\n'}, policy=policy)
    await tenant.applied("app", "Unappliable")


async def test_a_new_spec_does_not_wait_for_the_backoff(tenant: Tenant) -> None:
    await tenant.release("app", policy={"retryBackoff": {"initial": "1h"}}, source=MISSING)
    await tenant.until("app", lambda tree: failures(tree) == 1, "a failure")
    files = {"inline": {"files": {"a.yaml": config_map("a", tenant.namespace)}}}
    await tenant.patch("app", {"spec": {"source": {"configMap": None, **files}}})
    await tenant.applied("app")
    await tenant.until("app", lambda tree: "retry" not in tree["status"], "the end of the retries")
