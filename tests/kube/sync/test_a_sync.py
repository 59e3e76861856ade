"""Steps 1 to 6 of a sync on a real API server."""

from __future__ import annotations

from convoy.kube.resources import INVENTORIES
from tests.kube.sync.rig import Rig, render_of


async def test_applies_every_object_as_convoy(rig: Rig) -> None:
    box = rig.config_map("box", side="left")
    await rig.sync(await rig.release(), render_of(box))
    live = await rig.get(box)
    assert live is not None
    assert live["data"] == {"side": "left"}
    owners = [(each["manager"], each["operation"]) for each in live["metadata"]["managedFields"]]
    assert owners == [("convoy", "Apply")]


async def test_takes_a_field_from_another_manager(rig: Rig) -> None:
    await rig.create(rig.config_map("box", side="theirs"))
    box = rig.config_map("box", side="ours")
    await rig.sync(await rig.release(), render_of(box))
    live = await rig.get(box)
    assert live is not None
    assert live["data"] == {"side": "ours"}


async def test_records_each_object_with_its_uid(rig: Rig) -> None:
    release = await rig.release()
    box = rig.config_map("box")
    render = render_of(box)
    await rig.sync(release, render)
    record = await rig.record(release)
    assert [entry.uid for entry in record.objects] == [await rig.uid(box)]
    assert (record.planned, record.claims, record.render_ref) == ((), (), render.ref)


async def test_the_inventory_belongs_to_the_release_and_has_a_finalizer(rig: Rig) -> None:
    release = await rig.release()
    await rig.sync(release, render_of(rig.config_map()))
    tree = await rig.home.get(INVENTORIES, rig.namespace, "a")
    assert tree["metadata"]["ownerReferences"][0]["uid"] == release.metadata.uid
    assert tree["metadata"]["finalizers"] == ["convoy.kumodo.io/teardown"]


async def test_a_second_sync_changes_nothing(rig: Rig) -> None:
    release = await rig.release()
    box = rig.config_map("box", side="left")
    await rig.sync(release, render_of(box))
    before, record = await rig.get(box), await rig.record(release)
    outcome = await rig.sync(release, render_of(box))
    assert await rig.get(box) == before
    assert [each.changed for each in outcome.applied] == [False]
    after = await rig.record(release)
    assert (after.objects, after.planned, after.claims) == (record.objects, (), ())


async def test_says_which_objects_changed(rig: Rig) -> None:
    release = await rig.release()
    one, two = rig.config_map("one", side="left"), rig.config_map("two")
    await rig.sync(release, render_of(one, two))
    one["data"]["side"] = "right"
    outcome = await rig.sync(release, render_of(one, two))
    assert [(each.key.name, each.changed) for each in outcome.applied] == [("one", True), ("two", False)]
