"""The inventory as attempts write it: fenced, tied to its Release and its target, and small enough for
etcd."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from convoy.api.errors import ClusterNotReady, Unsupported
from convoy.api.objects import ObjectKey
from convoy.kube.errors import NotFound
from convoy.kube.resources import INVENTORIES, RELEASES
from convoy.sync.claim import let_go
from convoy.sync.interruptions import Fenced
from convoy.sync.inventory import Entry, Record
from convoy.sync.ledger import Ledger
from tests.kube.sync.rig import Rig, epoch, render_of
from tests.waiting import eventually


def with_objects(record: Record, *names: str) -> Record:
    return replace(
        record,
        objects=tuple(
            Entry(ObjectKey("", "ConfigMap", "demo", name), uid="u", recorded_at="1") for name in names
        ),
    )


async def test_an_older_attempt_cannot_write_any_more(rig: Rig) -> None:
    release = await rig.release()
    old = await rig.ledger(release)
    await old.write(lambda record: with_objects(record, "a"))
    new = await rig.ledger(release)
    await new.begin()
    with pytest.raises(Fenced):
        await old.write(lambda record: with_objects(record, "late"))
    assert await rig.names(release) == ["a"]


async def test_an_attempt_that_wakes_before_its_first_write_cannot_write_either(rig: Rig) -> None:
    release = await rig.release()
    await (await rig.ledger(release)).begin()
    asleep = await rig.ledger(release)
    await (await rig.ledger(release)).begin()
    with pytest.raises(Fenced):
        await asleep.begin()


async def test_of_two_attempts_that_create_one_inventory_one_is_fenced(rig: Rig) -> None:
    release = await rig.release()
    ledgers = [await rig.ledger(release) for _ in range(2)]
    results = await asyncio.gather(*(each.begin() for each in ledgers), return_exceptions=True)
    assert [type(each) for each in results if each is not None] == [Fenced]


async def test_the_observers_status_writes_do_not_fence(rig: Rig) -> None:
    release = await rig.release()
    ledger = await rig.ledger(release)
    await ledger.begin()
    await rig.home.patch(
        INVENTORIES,
        rig.namespace,
        "a",
        {"status": {"health": {"phase": "Healthy"}}},
        manager="convoy-observe",
        subresource="status",
    )
    await ledger.write(lambda record: with_objects(record, "a"))
    assert await rig.names(release) == ["a"]


async def test_nothing_is_written_where_nothing_changes(rig: Rig) -> None:
    ledger = await rig.ledger(await rig.release())
    await ledger.write(lambda record: with_objects(record, "a"))
    before = ledger.resource_version
    await ledger.write(lambda record: with_objects(record, "a"))
    assert ledger.resource_version == before


async def test_a_deleted_inventory_ends_the_attempt(rig: Rig) -> None:
    release = await rig.release()
    ledger = await rig.ledger(release)
    await ledger.begin()
    await rig.home.patch(INVENTORIES, rig.namespace, "a", {"metadata": {"finalizers": None}})
    await rig.home.delete(INVENTORIES, rig.namespace, "a")
    with pytest.raises(Fenced):
        await ledger.write(lambda record: with_objects(record, "a"))


async def test_a_finalizer_that_somebody_removed_comes_back(rig: Rig) -> None:
    release = await rig.release()
    await (await rig.ledger(release)).begin()
    await rig.home.patch(INVENTORIES, rig.namespace, "a", {"metadata": {"finalizers": None}})
    await (await rig.ledger(release)).begin()
    tree = await rig.home.get(INVENTORIES, rig.namespace, "a")
    assert tree["metadata"]["finalizers"] == ["convoy.kumodo.io/teardown"]


async def test_another_target_is_refused_unless_it_is_accepted(rig: Rig) -> None:
    release = await rig.release()
    await (await rig.ledger(release)).write(lambda record: with_objects(record, "a"))
    with pytest.raises(ClusterNotReady, match="another API server"):
        await Ledger.open(rig.home, release=release, target_uid="new", epoch=epoch())
    ledger = await Ledger.open(
        rig.home, release=release, target_uid="new", epoch=epoch(), accept_target="new"
    )
    await ledger.begin()
    record = await rig.record(release)
    assert (record.target_uid, record.objects) == ("new", ())


async def test_a_step_without_a_target_leaves_the_recorded_one(rig: Rig) -> None:
    release = await rig.release()
    await (await rig.ledger(release)).write(lambda record: with_objects(record, "a"))
    await (await Ledger.open(rig.home, release=release, epoch=epoch())).begin()
    record = await rig.record(release)
    assert (record.target_uid, len(record.objects)) == (rig.target.uid, 1)


async def test_a_release_made_again_does_not_inherit_the_records(rig: Rig) -> None:
    release = await rig.release()
    await rig.sync(release, render_of(rig.config_map("old")))
    await rig.home.delete(RELEASES, rig.namespace, "a")
    again = await rig.release()
    assert again.metadata.uid != release.metadata.uid
    await rig.sync(again, render_of(rig.config_map("new")))
    assert await rig.names(again) == ["new"]
    assert await rig.get(rig.config_map("old")) is not None

    async def owned_by_the_new_one() -> bool:
        tree = await rig.home.get(INVENTORIES, rig.namespace, "a")
        return bool(tree["metadata"]["ownerReferences"][0]["uid"] == again.metadata.uid)

    await eventually(owned_by_the_new_one)


async def test_ten_thousand_objects_fit(rig: Rig) -> None:
    release = await rig.release()
    uid = "c0ffee00-1234-4abc-9def-0123456789ab"
    many = tuple(
        Entry(ObjectKey("", "ConfigMap", rig.namespace, f"{number:045d}"), 0, uid, "123456")
        for number in range(10_000)
    )
    ledger = await rig.ledger(release)
    await ledger.write(lambda record: replace(record, objects=many))
    await ledger.write(lambda record: replace(record, render_ref="sha256:0"))
    assert (await rig.record(release)).objects == many


async def test_more_than_etcd_takes_is_refused_and_leaves_the_inventory_as_it_was(rig: Rig) -> None:
    release = await rig.release()
    ledger = await rig.ledger(release)
    await ledger.write(lambda record: with_objects(record, "a"))
    many = tuple(Entry(ObjectKey("", "ConfigMap", "demo", f"{n:0200d}"), 0, "u", "1") for n in range(9_000))
    with pytest.raises(Unsupported, match=r"9000 objects do not fit .* split the Release"):
        await ledger.write(lambda record: replace(record, objects=many))
    assert await rig.names(release) == ["a"]


async def test_a_release_without_inventory_gets_none_from_a_withdrawal(rig: Rig) -> None:
    release = await rig.release()
    await let_go(await Ledger.open(rig.home, release=release, epoch=epoch()))
    with pytest.raises(NotFound):
        await rig.home.get(INVENTORIES, rig.namespace, "a")
