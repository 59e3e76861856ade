"""`lastAttempted`, `lastSuccessful`, the history and the inventory after each way a sync can end.

`reference/apply-and-prune`, Status, Inventory and Prune; the rules alone are in tests/unit/sync/test_release_status.py.
"""

from __future__ import annotations

from typing import Any

from convoy.api.objects import Manifest
from convoy.kube.resources import INVENTORIES, SECRETS
from tests.e2e.seen_target import seen_target
from tests.e2e.tenant import Tenant, applied_of, config_map

CALM = {"retryBackoff": {"initial": "1h"}, "prune": {"orphaned": True}}


async def applied_once(tenant: Tenant, **options: Any) -> Manifest:
    """Make the Release `app` of the objects a and b, applied."""
    files = {f"{name}.yaml": config_map(name, tenant.namespace, v="1") for name in "ab"}
    await tenant.release("app", files, policy=CALM, **options)
    return await tenant.applied("app")


def unchanged(before: Manifest, after: Manifest) -> bool:
    return all(before["status"][name] == after["status"][name] for name in ("lastSuccessful", "history"))


def attempted(tree: Manifest) -> tuple[str, bool]:
    """Return the reason of the last attempt, and whether it was for another render than the last success."""
    status = tree["status"]
    other = status["lastAttempted"]["renderRef"] != status["lastSuccessful"]["renderRef"]
    return status["lastAttempted"]["reason"], other


async def recorded(tenant: Tenant) -> list[str]:
    tree = await tenant.home.get(INVENTORIES, tenant.namespace, "app")
    return [item["name"] for group in tree["spec"]["objects"] for item in group["items"]]


async def test_a_failed_dry_run_is_an_attempt_and_applies_nothing(tenant: Tenant) -> None:
    before = await applied_once(tenant)
    await tenant.files("app", {"a.yaml": config_map("a", "missing-" + tenant.namespace), "b.yaml": None})
    after = await tenant.applied("app", "Unappliable")
    assert attempted(after) == ("Unappliable", True)
    assert unchanged(before, after)
    assert await recorded(tenant) == ["a", "b"]
    assert await tenant.config_map("b") is not None, "never a prune after a failed sync"


async def test_a_failed_apply_is_an_attempt_and_prunes_nothing(tenant: Tenant) -> None:
    before = await applied_once(tenant)
    # The dry run skips a kind that nobody knows (D9).
    unknown = "apiVersion: nobody.example.org/v1\nkind: Unknown\nmetadata: {name: z, namespace: default}\n"
    await tenant.files(
        "app", {"b.yaml": None, "c.yaml": config_map("c", tenant.namespace), "z.yaml": unknown}
    )
    after = await tenant.applied("app", "DeployFailed")
    assert "Unknown.nobody.example.org default/z" in applied_of(after)["message"]
    assert attempted(after) == ("DeployFailed", True)
    assert unchanged(before, after)
    assert await tenant.config_map("b") is not None
    assert await recorded(tenant) == ["a", "b", "c"], "the union of what was there and what was applied"


async def test_a_failed_prune_keeps_the_records_and_the_next_retry_finishes_it(tenant: Tenant) -> None:
    async with seen_target(tenant) as seen:
        before = await applied_once(tenant, cluster="seen")
        seen.refused.add(("DELETE", "b"))
        await tenant.patch("app", {"spec": {"syncPolicy": {"retryBackoff": {"initial": "2s", "max": "2s"}}}})
        await tenant.files("app", {"b.yaml": None})
        after = await tenant.applied("app", "PruneFailed")
        assert f"ConfigMap {tenant.namespace}/b" in applied_of(after)["message"]
        assert attempted(after) == ("PruneFailed", True)
        assert unchanged(before, after)
        assert await recorded(tenant) == ["a", "b"]

        seen.refused.clear()
        after = await tenant.applied("app")
        assert after["status"]["lastAttempted"]["trigger"] == "Retry"
        assert attempted(after) == ("Applied", False)
        assert len(after["status"]["history"]) == 2
        assert await recorded(tenant) == ["a"]
        assert await tenant.config_map("b") is None


async def test_a_render_that_cannot_be_resolved_is_no_attempt(tenant: Tenant) -> None:
    before = await applied_once(tenant)
    await tenant.files("app", {"a.yaml": "no: [yaml"})
    after = await tenant.applied("app", "Unsupported")
    assert after["status"]["lastAttempted"] == before["status"]["lastAttempted"]
    assert unchanged(before, after)


async def test_waves_tell_how_far_they_are_while_the_sync_runs(tenant: Tenant) -> None:
    files = {f"{wave}.yaml": config_map(f"wave-{wave}", tenant.namespace, wave=wave) for wave in (0, 1, 2)}
    async with seen_target(tenant) as seen:
        seen.hold("wave-1")
        await tenant.release("app", files, policy=CALM, cluster="seen")
        await seen.is_held()
        tree = await tenant.get("app")
        assert [(each["wave"], each["phase"], each["applied"]) for each in tree["status"]["waves"]] == [
            (0, "Applied", 1),
            (1, "Applying", 0),
            (2, "Pending", 0),
        ]
        assert "reason" not in tree["status"]["lastAttempted"], "it has begun and not ended"
        assert await recorded(tenant) == ["wave-0"], "the union is written after each wave"
        seen.let_go.set()
        await tenant.applied("app")


async def test_a_render_without_objects_leaves_no_waves_of_the_one_before(tenant: Tenant) -> None:
    await applied_once(tenant, content={"manifests": {}, "allowEmpty": True})
    await tenant.files("app", {"a.yaml": None, "b.yaml": None})
    tree = await tenant.applied("app")
    assert tree["status"].get("waves", []) == []
    assert await recorded(tenant) == []


async def test_convoy_sends_each_object_as_the_page_says(tenant: Tenant) -> None:
    await tenant.create(SECRETS, "other", {"stringData": {"a": "1"}})
    async with seen_target(tenant) as seen:
        await applied_once(tenant, cluster="seen")
        assert [(write.method, write.name) for write in seen.writes] == [("PATCH", "a"), ("PATCH", "b")]
        live = await tenant.config_map("a")
        assert live is not None
        (owner,) = live["metadata"]["managedFields"]
        assert (owner["manager"], owner["operation"]) == ("convoy", "Apply")
