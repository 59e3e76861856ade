"""Two waves: in order, told as they go, and remembered (`reference/apply-and-prune`, Apply and Status)."""

from __future__ import annotations

from convoy.kube.resources import CONFIG_MAPS, INVENTORIES, SECRETS
from tests.e2e.tenant import Tenant, config_map


def app(namespace: str, version: str) -> dict[str, str]:
    return {
        # The later wave stands first in the render: the annotation decides, not the place.
        "a.yaml": config_map("late", namespace, wave=2, version=version),
        "b.yaml": config_map("early-b", namespace, wave=-1, version=version)
        + "---\n"
        + config_map("early-a", namespace, wave=-1, version=version),
    }


async def test_waves_are_applied_in_ascending_order_and_render_order_inside(tenant: Tenant) -> None:
    await tenant.release("app", app(tenant.namespace, "1"))
    tree = await tenant.applied("app")
    live = {each["metadata"]["name"]: each for each in await tenant.home.list(CONFIG_MAPS, tenant.namespace)}
    versions = [int(live[name]["metadata"]["resourceVersion"]) for name in ("early-b", "early-a", "late")]
    assert versions == sorted(versions)
    waves = tree["status"]["waves"]
    assert [(wave["wave"], wave["phase"], wave["objects"], wave["applied"]) for wave in waves] == [
        (-1, "Applied", 2, 2),
        (2, "Applied", 1, 1),
    ]
    assert waves[0]["finishedAt"] <= waves[1]["finishedAt"]
    assert (await tenant.steps("app")).count("apply-wave") == 2


async def test_a_success_is_recorded_in_last_successful_and_the_history(tenant: Tenant) -> None:
    await tenant.release("app", app(tenant.namespace, "1"))
    first = (await tenant.applied("app"))["status"]
    await tenant.files("app", app(tenant.namespace, "2"))
    second = (await tenant.applied("app"))["status"]
    refs = [status["lastSuccessful"]["renderRef"] for status in (second, first)]
    assert refs[0] != refs[1]
    assert [entry["renderRef"] for entry in second["history"]] == refs, "newest first"
    assert [entry["objects"] for entry in second["history"]] == [3, 3]
    assert second["lastAttempted"]["renderRef"] == refs[0]
    assert second["lastAttempted"]["reason"] == "Applied"
    await tenant.sync("app")
    third = (await tenant.applied("app"))["status"]
    assert [entry["renderRef"] for entry in third["history"]] == refs, "the same render is one entry"


async def test_a_wave_that_fails_stops_the_sync_and_keeps_what_was_applied_on_record(tenant: Tenant) -> None:
    files = app(tenant.namespace, "1") | {"c.yaml": config_map("last", tenant.namespace, wave=3)}
    # Of the same name as an object that cannot be changed: the dry run cannot know of it yet.
    await tenant.create(SECRETS, "frozen", {"immutable": True, "stringData": {"a": "1"}})
    broken = (
        f"apiVersion: v1\nkind: Secret\nmetadata: {{name: frozen, namespace: {tenant.namespace}, "
        'annotations: {convoy.kumodo.io/sync-wave: "2"}}\nstringData: {a: "2"}\n'
    )
    await tenant.release(
        "app",
        files | {"d.yaml": broken},
        policy={"automatic": False, "retryBackoff": {"initial": "1h"}},
    )
    await tenant.applied("app", "WaitingForSync")
    await tenant.sync("app", force=True)
    tree = await tenant.applied("app", "DeployFailed")
    status = tree["status"]
    assert f"Secret {tenant.namespace}/frozen" in status["lastAttempted"]["message"]
    assert "lastSuccessful" not in status
    assert "history" not in status
    assert "lastHandledSyncAt" not in status, "the request stays pending"
    assert [(wave["wave"], wave["phase"]) for wave in status["waves"]] == [
        (-1, "Applied"),
        (2, "Failed"),
        (3, "Pending"),
    ]
    assert await tenant.config_map("early-a") is not None
    assert await tenant.config_map("last") is None
    inventory = await tenant.home.get(INVENTORIES, tenant.namespace, "app")
    recorded = [item["name"] for group in inventory["spec"]["objects"] for item in group["items"]]
    assert {"early-a", "early-b"} <= set(recorded)
