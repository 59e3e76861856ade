"""Two Releases, one object: exactly one has it, and it moves without being deleted (D14)."""

from __future__ import annotations

import asyncio

import pytest

from convoy.api.errors import WaitingForOwner
from convoy.api.release import Release
from convoy.sync.claim import let_go
from convoy.sync.inventory import Record
from convoy.sync.ownership import Ownership
from tests.kube.sync.rig import Rig, render_of
from tests.waiting import eventually

RACES = 100


async def take(rig: Rig, release: Release, *names: str) -> Record:
    """Claim and return what is recorded then."""
    ledger = await rig.ledger(release)
    await rig.claim(ledger, render_of(*(rig.config_map(name) for name in names)))
    return ledger.record


async def test_of_two_that_race_for_one_object_exactly_one_wins(rig: Rig) -> None:
    releases = [await rig.release("a"), await rig.release("b")]
    for race in range(RACES):
        results = await asyncio.gather(
            *(take(rig, release, f"prize-{race}") for release in releases), return_exceptions=True
        )
        assert sorted(type(result).__name__ for result in results) == ["Record", "WaitingForOwner"], race
        for release, result in zip(releases, results, strict=True):
            if isinstance(result, Record):
                await let_go(await rig.ledger(release))


async def test_of_five_that_race_at_most_one_wins_and_a_second_try_gives_one(rig: Rig) -> None:
    releases = [await rig.release(name) for name in "abcde"]
    for race in range(10):
        results = await asyncio.gather(
            *(take(rig, release, f"prize-{race}", f"more-{race}") for release in releases),
            return_exceptions=True,
        )
        assert all(isinstance(result, Record | WaitingForOwner) for result in results)
        winners = [
            release for release, result in zip(releases, results, strict=True) if isinstance(result, Record)
        ]
        assert len(winners) == 1
        records = [await rig.record(release) for release in releases]
        assert sum(bool(record.planned) for record in records) == 1
        for release in releases:
            await let_go(await rig.ledger(release))


async def test_the_loser_applies_nothing_and_names_the_owner(rig: Rig) -> None:
    barn, house = await rig.release("barn"), await rig.release("house")
    await rig.sync(barn, render_of(rig.config_map("ladder", steps="12")))
    with pytest.raises(WaitingForOwner, match=f"{rig.namespace}/barn has ConfigMap {rig.namespace}/ladder"):
        await rig.sync(house, render_of(rig.config_map("rope"), rig.config_map("ladder", rungs="12")))
    live = await rig.get(rig.config_map("ladder"))
    assert live is not None
    assert live["data"] == {"steps": "12"}
    assert await rig.get(rig.config_map("rope")) is None
    record = await rig.record(house)
    assert [each.key.name for each in record.claims] == ["rope", "ladder"]
    assert (record.objects, record.planned) == ((), ())


async def test_a_forced_sync_waits_for_the_owner_too(rig: Rig) -> None:
    barn, house = await rig.release("barn"), await rig.release("house")
    await rig.sync(barn, render_of(rig.config_map("ladder")))
    with pytest.raises(WaitingForOwner):
        await rig.sync(house, render_of(rig.config_map("ladder")), force=True)


async def test_an_object_moves_when_the_new_owner_syncs_first(rig: Rig) -> None:
    barn, house = await rig.release("barn"), await rig.release("house")
    ladder = rig.config_map("ladder", steps="12")
    await rig.sync(barn, render_of(ladder, rig.config_map("bucket")))
    uid = await rig.uid(ladder)
    with pytest.raises(WaitingForOwner):
        await rig.sync(house, render_of(rig.config_map("ladder", rungs="12")))
    kept = (await rig.sync(barn, render_of(rig.config_map("bucket")))).pruned.kept
    assert [each.reason for each in kept] == [f"the Release {rig.namespace}/house claims it"]
    await rig.sync(house, render_of(rig.config_map("ladder", rungs="12")))
    live = await rig.get(ladder)
    assert live is not None
    assert (live["metadata"]["uid"], live["data"]) == (uid, {"rungs": "12"})
    assert (await rig.names(barn), await rig.names(house)) == (["bucket"], ["ladder"])


async def test_an_object_moves_when_the_old_owner_syncs_first_without_prune(rig: Rig) -> None:
    barn, house = await rig.release("barn"), await rig.release("house")
    ladder = rig.config_map("ladder", steps="12")
    await rig.sync(barn, render_of(ladder, rig.config_map("bucket")))
    uid = await rig.uid(ladder)
    await rig.sync(barn, render_of(rig.config_map("bucket")), pruning=False)
    await rig.sync(house, render_of(rig.config_map("ladder", rungs="12")))
    assert await rig.uid(ladder) == uid
    assert (await rig.names(barn), await rig.names(house)) == (["bucket"], ["ladder"])


async def test_a_swap_of_two_objects_does_not_deadlock(rig: Rig) -> None:
    left, right = await rig.release("left"), await rig.release("right")
    x, y = rig.config_map("x"), rig.config_map("y")
    await rig.sync(left, render_of(x))
    await rig.sync(right, render_of(y))
    uids = (await rig.uid(x), await rig.uid(y))
    waiting = {"left", "right"}
    for _ in range(4):
        results = await asyncio.gather(
            rig.sync(left, render_of(y)), rig.sync(right, render_of(x)), return_exceptions=True
        )
        waiting = {
            name
            for name, result in zip(("left", "right"), results, strict=True)
            if isinstance(result, Exception)
        }
        assert all(isinstance(each, WaitingForOwner) for each in results if isinstance(each, Exception))
        if not waiting:
            break
    assert waiting == set()
    assert (await rig.names(left), await rig.names(right)) == (["y"], ["x"])
    assert (await rig.uid(x), await rig.uid(y)) == uids


async def test_two_releases_never_strip_each_others_fields(rig: Rig) -> None:
    left, right = await rig.release("left"), await rig.release("right")
    mine, theirs = rig.config_map("box", mine="1"), rig.config_map("box", theirs="1")
    await rig.sync(left, render_of(mine))
    for _ in range(3):
        with pytest.raises(WaitingForOwner):
            await rig.sync(right, render_of(theirs))
        await rig.sync(left, render_of(mine))
        live = await rig.get(mine)
        assert live is not None
        assert live["data"] == {"mine": "1"}


async def test_one_that_waits_is_woken_when_the_owner_lets_go(rig: Rig) -> None:
    woken: list[str] = []
    watching = Ownership(rig.home, on_free=woken.append)
    task = asyncio.ensure_future(watching.run())
    try:
        await watching.synced()
        barn, house = await rig.release("barn"), await rig.release("house")
        await rig.sync(barn, render_of(rig.config_map("ladder"), rig.config_map("bucket")))
        with pytest.raises(WaitingForOwner):
            await rig.sync(house, render_of(rig.config_map("ladder")))
        await rig.sync(barn, render_of(rig.config_map("bucket")))

        async def told() -> bool:
            return f"{rig.namespace}/house" in woken

        await eventually(told)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_two_that_wait_for_a_third_do_not_wake_each_other(rig: Rig) -> None:
    woken: list[str] = []
    watching = Ownership(rig.home, on_free=woken.append)
    task = asyncio.ensure_future(watching.run())
    try:
        await watching.synced()
        owner, *others = [await rig.release(name) for name in ("owner", "b", "c")]
        await rig.sync(owner, render_of(rig.config_map("ladder")))
        for _ in range(2):
            for other in others:
                with pytest.raises(WaitingForOwner):
                    await rig.sync(other, render_of(rig.config_map("ladder")))
        ledger = await rig.ledger(owner)
        await ledger.begin()
        await watching.as_of(ledger.resource_version)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert [name for name in woken if name.startswith(rig.namespace)] == []


async def test_a_wait_that_goes_on_writes_nothing_but_its_epoch(rig: Rig) -> None:
    owner, other = await rig.release("owner"), await rig.release("other")
    await rig.sync(owner, render_of(rig.config_map("ladder")))
    with pytest.raises(WaitingForOwner):
        await rig.sync(other, render_of(rig.config_map("ladder")))
    before = await rig.record(other)
    with pytest.raises(WaitingForOwner):
        await rig.sync(other, render_of(rig.config_map("ladder")))
    after = await rig.record(other)
    assert (after.claims, after.planned) == (before.claims, before.planned)


async def test_a_withdrawn_plan_frees_the_object(rig: Rig) -> None:
    first, second = await rig.release("first"), await rig.release("second")
    await take(rig, first, "ladder")
    with pytest.raises(WaitingForOwner):
        await take(rig, second, "ladder")
    await let_go(await rig.ledger(first))
    assert (await take(rig, second, "ladder")).planned


async def test_a_crashed_claim_is_taken_over_by_the_next_attempt(rig: Rig) -> None:
    release = await rig.release()
    before = await take(rig, release, "ladder")
    assert (await take(rig, release, "ladder")).planned == before.planned
    assert [each.key.name for each in (await rig.record(release)).planned] == ["ladder"]
