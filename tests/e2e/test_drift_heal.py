"""Self-heal (`reference/drift`, Self-heal) and the fight detector (D32)."""

from __future__ import annotations

import itertools
from typing import Any

from convoy.api.names import SYNC_REQUESTED_AT
from convoy.api.objects import Manifest
from convoy.kube.resources import CONFIG_MAPS
from tests.e2e.drift_passes import drift_passes, events_of, heals, observed
from tests.e2e.harness.convoy import Convoy
from tests.e2e.tenant import Tenant, config_map
from tests.e2e.webhook import hooked, mutating_webhook
from tests.waiting import eventually
from workflows.contract import ReleaseId, Verdict


async def test_a_heal_is_a_sync_request_like_a_users(convoy: Convoy, tenant: Tenant) -> None:
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace, v="1")})
    await tenant.applied("app")
    await observed(tenant, "app")
    passes = await tenant.passes("app")
    await tenant.home.patch(CONFIG_MAPS, tenant.namespace, "a", {"data": {"v": "2"}}, manager="hand")
    await convoy.check(ReleaseId(tenant.namespace, "app"))
    await until_healed(tenant)
    tree = await tenant.until("app", lambda tree: SYNC_REQUESTED_AT in notes(tree), "the /sync request")
    tree = await tenant.applied("app")
    attempt = tree["status"]["lastAttempted"]
    assert attempt["requestedAt"] == notes(tree)[SYNC_REQUESTED_AT]
    assert attempt["trigger"] == "SelfHeal"
    live = await tenant.config_map("a")
    assert live is not None
    assert live["data"] == {"v": "1"}
    assert (await convoy.check(ReleaseId(tenant.namespace, "app"))).verdict is Verdict.IN_SYNC
    assert await tenant.passes("app") == passes + 1, "the watcher's echo starts no second one (D23)"
    assert await heals(tenant, "app") == 1


async def test_the_fifth_heal_of_a_field_tells_who_changes_it_back(convoy: Convoy, tenant: Tenant) -> None:
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace, v="1")})
    await tenant.applied("app")
    await observed(tenant, "app")
    for number in range(6):
        assert await heals(tenant, "app") == number
        assert len(await events_of(tenant, "app", "FightDetected")) == (number > 4)
        await tenant.home.patch(
            CONFIG_MAPS, tenant.namespace, "a", {"data": {"v": "2"}}, manager="other-operator"
        )
        await convoy.check(ReleaseId(tenant.namespace, "app"))
        await until_healed(tenant)
        live = await tenant.config_map("a")
        assert live is not None
        assert live["data"] == {"v": "1"}, "healing goes on"
    (event,) = await events_of(tenant, "app", "FightDetected")
    assert event["type"] == "Warning"
    assert "other-operator (Update)" in event["note"]
    assert f"ConfigMap {tenant.namespace}/a: /data/v" in event["note"]


async def test_a_webhook_that_never_answers_the_same_is_a_fight_with_one_heal_a_pass(
    convoy: Convoy, tenant: Tenant
) -> None:
    numbers = itertools.count(1)

    async def count_up(asked: dict[str, Any]) -> list[dict[str, Any]]:
        return [{"op": "add", "path": "/data/count", "value": str(next(numbers))}]

    release = ReleaseId(tenant.namespace, "app")
    async with mutating_webhook(tenant.home, tenant.namespace, count_up):
        await tenant.release("app", {"a.json": hooked("a", tenant.namespace, v="1")})
        await tenant.applied("app")
        await observed(tenant, "app")
        await until_healed(tenant)
        already = await heals(tenant, "app")
        assert already >= 1
        for _ in range(5):
            assert (await convoy.check(release)).heal
            await until_healed(tenant)
        report = await convoy.check(release)
        assert report.drifted == (f"ConfigMap {tenant.namespace}/a: /data/count",)
        await until_healed(tenant)
        found = await drift_passes(tenant, "app")
        assert {one.verdict for one in found} == {Verdict.DRIFTED}, "every pass shows it"
        assert await tenant.passes("app") == 1 + len(found), "one heal a pass, and no pass for a heal"
        assert len(found) == already + 6
        (event,) = await events_of(tenant, "app", "FightDetected")
        assert "an admission webhook" in event["note"]


async def until_healed(tenant: Tenant) -> None:
    """Wait until each pass that found drift has been followed by a sync."""

    async def one_each() -> bool:
        found = await drift_passes(tenant, "app")
        drifted = sum(one.verdict is Verdict.DRIFTED for one in found)
        return drifted == await heals(tenant, "app") == await tenant.passes("app") - 1

    await eventually(one_each)
    await tenant.applied("app")


def notes(tree: Manifest) -> dict[str, str]:
    found: dict[str, str] = tree["metadata"].get("annotations") or {}
    return found
