"""Missing, Modified, InSync, and what is sent for each (`reference/drift`; D11, D30)."""

from convoy.drift.changes import ABSENT
from convoy.drift.results import DriftStatus
from tests.kube.drift.rig import Rig, pointers


async def test_an_object_that_does_not_exist_is_missing_and_takes_one_request(rig: Rig) -> None:
    found = await rig.compare(rig.config_map(k="v"))
    assert (found.status, found.changes) == (DriftStatus.MISSING, ())
    assert [method for method, *_ in rig.client.requests] == ["GET"]


async def test_an_object_of_a_namespace_that_does_not_exist_is_missing(rig: Rig) -> None:
    manifest = rig.config_map(k="v")
    manifest["metadata"]["namespace"] = f"{rig.namespace}-none"
    assert (await rig.compare(manifest)).status is DriftStatus.MISSING


async def test_an_applied_object_is_in_sync_and_takes_two_requests(rig: Rig) -> None:
    manifest = rig.config_map(k="v")
    await rig.apply(manifest)
    rig.client.requests.clear()
    assert (await rig.compare(manifest)).status is DriftStatus.IN_SYNC
    assert [method for method, *_ in rig.client.requests] == ["GET", "PATCH"]


async def test_the_dry_run_is_the_request_of_the_apply(rig: Rig) -> None:
    manifest = rig.config_map(k="v")
    await rig.apply(manifest)
    await rig.compare(manifest)
    (_, _, applied, sent), _, (_, _, dry, compared) = rig.client.requests
    assert sent == compared
    assert applied == {"fieldManager": "convoy", "force": "true"}
    assert dry == {**applied, "dryRun": "All"}


async def test_a_changed_object_is_modified_and_stays_as_it_is(rig: Rig) -> None:
    manifest = rig.config_map(k="v")
    await rig.apply(manifest)
    await rig.edit(manifest, {"data": {"k": "other"}})
    before = await rig.get(manifest)
    found = await rig.compare(manifest)
    assert found.status is DriftStatus.MODIFIED
    assert [(c.pointer, c.live, c.desired) for c in found.changes] == [("/data/k", "other", "v")]
    assert await rig.get(before) == before


async def test_a_removed_field_is_absent_on_the_live_side(rig: Rig) -> None:
    manifest = rig.config_map(k="v", other="w")
    await rig.apply(manifest)
    await rig.edit(manifest, {"data": {"k": None}})
    (change,) = (await rig.compare(manifest)).changes
    assert (change.pointer, change.live, change.desired) == ("/data/k", ABSENT, "v")


async def test_a_field_that_the_render_dropped_is_absent_on_the_desired_side(rig: Rig) -> None:
    await rig.apply(rig.config_map(k="v", old="w"))
    (change,) = (await rig.compare(rig.config_map(k="v"))).changes
    assert (change.pointer, change.live, change.desired) == ("/data/old", "w", ABSENT)
    assert change.owner is not None
    assert (change.owner.manager, change.owner.operation) == ("convoy", "Apply")


async def test_a_healed_object_is_in_sync_again(rig: Rig) -> None:
    manifest = rig.config_map(k="v")
    await rig.apply(manifest)
    await rig.edit(manifest, {"data": {"k": "other", "honey": "lime"}})
    assert pointers(await rig.compare(manifest)) == ["/data/k"]
    await rig.apply(manifest)
    assert (await rig.compare(manifest)).status is DriftStatus.IN_SYNC
    assert (await rig.get(manifest))["data"]["honey"] == "lime"


async def test_an_object_that_is_being_deleted_is_compared_like_any_other(rig: Rig) -> None:
    manifest = rig.config_map(k="v")
    manifest["metadata"]["finalizers"] = ["example.org/hold"]
    await rig.apply(manifest)
    await rig.delete(manifest)
    assert (await rig.compare(manifest)).status is DriftStatus.IN_SYNC
    await rig.edit(manifest, {"metadata": {"finalizers": None}})
