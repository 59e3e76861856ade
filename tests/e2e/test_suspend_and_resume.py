"""`spec.suspend` holds a Release, and its end reconciles at once.

The resync is an hour and every wait here is shorter: what comes about, an event has brought about.
"""

from __future__ import annotations

from tests.e2e.harness.convoy import Convoy, condition_of
from tests.e2e.seen_target import seen_target
from tests.e2e.tenant import Tenant, config_map
from workflows.contract import ReleaseId, Verdict


async def test_a_suspended_release_applies_nothing_until_it_is_resumed(tenant: Tenant) -> None:
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace, v="1")})
    await tenant.applied("app")
    await tenant.patch("app", {"spec": {"suspend": True}})
    await tenant.applied("app", "Suspended")
    await tenant.files("app", {"a.yaml": config_map("a", tenant.namespace, v="2")})
    await tenant.sync("app")
    tree = await tenant.applied("app", "Suspended")
    assert condition_of(tree, "Applied")["status"] == "False"
    live = await tenant.config_map("a")
    assert live is not None
    assert live["data"] == {"v": "1"}

    await tenant.patch("app", {"spec": {"suspend": False}})
    tree = await tenant.applied("app")
    assert tree["status"]["lastAttempted"]["trigger"] == "SpecChanged"
    live = await tenant.config_map("a")
    assert live is not None
    assert live["data"] == {"v": "2"}


async def test_a_suspended_release_is_compared_and_not_healed(convoy: Convoy, tenant: Tenant) -> None:
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace)}, suspend=True)
    await tenant.applied("app", "Suspended")
    passes = await tenant.passes("app")
    report = await convoy.check(ReleaseId(tenant.namespace, "app"))
    assert (report.verdict, report.heal) == (Verdict.DRIFTED, False)
    assert await tenant.passes("app") == passes


async def test_a_release_suspended_from_the_start_is_applied_when_resumed(tenant: Tenant) -> None:
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace)}, suspend=True)
    await tenant.applied("app", "Suspended")
    await tenant.patch("app", {"spec": {"suspend": False}})
    await tenant.applied("app")


async def test_a_release_suspended_during_its_sync_stops_behind_the_present_wave(tenant: Tenant) -> None:
    files = {f"{wave}.yaml": config_map(f"in-{wave}", tenant.namespace, wave=wave) for wave in range(2)}
    async with seen_target(tenant) as seen:
        seen.hold("in-0")
        await tenant.release("app", files, cluster="seen")
        await seen.is_held()
        await tenant.patch("app", {"spec": {"suspend": True}})
        seen.let_go.set()
        await tenant.applied("app", "Suspended")
        assert await tenant.config_map("in-0") is not None, "what was begun is finished"
        assert await tenant.config_map("in-1") is None
        await tenant.patch("app", {"spec": {"suspend": False}})
        await tenant.applied("app")
    assert await tenant.config_map("in-1") is not None
