"""One wave: strictly in order, ended at the first failure, taken up again where it stopped (D11, D12, D13,
D15)."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from convoy.api.errors import DeployFailed
from convoy.api.objects import Manifest
from convoy.api.release import IgnoreDifferences, Release
from convoy.kube.resources import CONFIG_MAPS, NAMESPACES
from convoy.sync.apply import MARGIN_SECONDS, Applied, apply_wave
from convoy.sync.dryrun import Seen, dry_run
from convoy.sync.interruptions import Fenced, Interrupted
from convoy.sync.ledger import Ledger
from tests.kube.sync.rig import Rig, key, render_of
from tests.waiting import until_served


async def claimed(rig: Rig, release: Release, *manifests: Manifest) -> Ledger:
    ledger = await rig.ledger(release)
    await rig.claim(ledger, render_of(*manifests))
    return ledger


async def test_applies_in_render_order(rig: Rig) -> None:
    order = [rig.config_map(name) for name in ("c", "a", "d", "b")]
    await rig.sync(await rig.release(), render_of(*order))
    versions = []
    for each in order:
        live = await rig.get(each)
        assert live is not None
        versions.append(int(live["metadata"]["resourceVersion"]))
    assert versions == sorted(versions)


async def test_waves_run_in_number_order(rig: Rig) -> None:
    waves = {"fifth": 10, "third": 0, "second": -9, "fourth": 2, "first": -10}
    release = await rig.release()
    await rig.sync(release, render_of(*(rig.config_map(name, wave=wave) for name, wave in waves.items())))
    assert await rig.names(release) == ["first", "second", "third", "fourth", "fifth"]


async def test_tells_of_each_object_as_it_is_applied(rig: Rig) -> None:
    told: list[tuple[int, str, bool]] = []

    def on_applied(index: int, applied: Applied) -> None:
        told.append((index, applied.key.name, applied.changed))

    maps = [rig.config_map("a"), rig.config_map("b")]
    ledger = await claimed(rig, await rig.release(), *maps)
    await apply_wave(rig.target, ledger, render_of(*maps).objects, seen={}, on_applied=on_applied)
    assert told == [(0, "a", True), (1, "b", True)]


async def test_an_object_to_which_others_write_meanwhile_is_not_changed_by_the_sync(rig: Rig) -> None:
    release, touched, healed = (
        await rig.release(),
        rig.config_map("touched", a="1"),
        rig.config_map("healed", a="1"),
    )
    render = render_of(touched, healed)
    await rig.sync(release, render)
    seen = (await dry_run(rig.target, render)).seen
    await asyncio.sleep(2.1)  # times in managedFields are whole seconds
    for one, field in ((touched, "theirs"), (healed, "a")):
        patch = {"data": {field: "2"}}
        await rig.target.client.patch(CONFIG_MAPS, rig.namespace, one["metadata"]["name"], patch)
    applied = await apply_wave(
        rig.target,
        await claimed(rig, release, touched, healed),
        render.objects,
        seen=seen,
        began=datetime.now(UTC) + timedelta(seconds=MARGIN_SECONDS - 1),
    )
    assert [(each.key.name, each.changed) for each in applied] == [("touched", False), ("healed", True)]


async def test_stops_at_the_first_object_that_fails_and_records_those_before(rig: Rig) -> None:
    release = await rig.release()
    bad: Manifest = rig.config_map("bad")
    bad["data"] = {"not a key": "v"}
    render = render_of(rig.config_map("good"), bad, rig.config_map("never"))
    with pytest.raises(DeployFailed, match=r"ConfigMap .*/bad: .*not a key"):
        await rig.sync(release, render, force=True)
    assert await rig.names(release) == ["good"]
    assert await rig.get(rig.config_map("never")) is None


async def test_a_failed_sync_keeps_the_records_of_the_previous_render_and_prunes_nothing(rig: Rig) -> None:
    release = await rig.release()
    await rig.sync(release, render_of(rig.config_map("old")))
    bad: Manifest = rig.config_map("bad")
    bad["data"] = {"not a key": "v"}
    with pytest.raises(DeployFailed):
        await rig.sync(release, render_of(rig.config_map("new"), bad), force=True)
    assert await rig.names(release) == ["old", "new"]
    assert await rig.get(rig.config_map("old")) is not None


async def test_an_interrupted_wave_is_recorded_and_goes_on_where_it_stopped(rig: Rig) -> None:
    release = await rig.release()
    maps = [rig.config_map(name) for name in "abcd"]
    objects = render_of(*maps).objects
    ledger = await claimed(rig, release, *maps)
    done: list[int] = []

    def note(index: int, applied: Applied) -> None:
        done.append(index)

    with pytest.raises(Interrupted):
        await apply_wave(
            rig.target, ledger, objects, seen={}, on_applied=note, should_stop=lambda: len(done) == 2
        )
    assert await rig.names(release) == ["a", "b"]
    versions = [(await rig.get(each) or {}).get("metadata", {}).get("resourceVersion") for each in maps[:2]]

    rest = await apply_wave(rig.target, await rig.ledger(release), objects, seen={}, start_at=2)
    assert [each.key.name for each in rest] == ["c", "d"]
    assert await rig.names(release) == ["a", "b", "c", "d"]
    assert versions == [
        (await rig.get(each) or {}).get("metadata", {}).get("resourceVersion") for each in maps[:2]
    ]


async def test_what_a_crash_left_unrecorded_is_sent_again(rig: Rig) -> None:
    release = await rig.release()
    maps = [rig.config_map(name) for name in "abc"]
    await claimed(rig, release, *maps)
    await rig.home.apply(  # the crashed attempt applied it, reported it, and wrote no union
        b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}',
        await rig.resource(maps[0]),
        rig.namespace,
        "a",
    )
    await apply_wave(rig.target, await rig.ledger(release), render_of(*maps).objects, seen={}, start_at=1)
    record = await rig.record(release)
    assert [(each.key.name, bool(each.uid)) for each in record.objects] == [
        ("a", True),
        ("b", True),
        ("c", True),
    ]


async def test_what_a_crash_left_unrecorded_is_sent_again_in_the_place_of_one_that_was_deleted(
    rig: Rig,
) -> None:
    release = await rig.release()
    render = render_of(rig.config_map("a"), rig.config_map("b"))
    await rig.sync(release, render)
    await rig.delete(rig.config_map("a"))
    seen = (await dry_run(rig.target, render)).seen
    ledger = await rig.ledger(release)
    with pytest.raises(Interrupted):
        await apply_wave(rig.target, ledger, render.objects, seen=seen, should_stop=lambda: True)
    await rig.home.apply(  # the crashed attempt made it again, reported it, and wrote no union
        b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{}}',
        await rig.resource(rig.config_map()),
        rig.namespace,
        "a",
    )
    await apply_wave(rig.target, await rig.ledger(release), render.objects, seen=seen, start_at=1)
    assert [each.uid for each in (await rig.record(release)).objects] == [
        await rig.uid(rig.config_map("a")),
        await rig.uid(rig.config_map("b")),
    ]
    await rig.sync(release, render_of(rig.config_map("b")))
    assert await rig.get(rig.config_map("a")) is None


async def test_an_object_deleted_since_the_dry_run_is_not_made_anew(rig: Rig) -> None:
    release = await rig.release()
    box = rig.config_map()
    await rig.create(box)
    render = render_of(box)
    seen = (await dry_run(rig.target, render)).seen
    await rig.delete(box)
    ledger = await claimed(rig, release, box)
    with pytest.raises(DeployFailed, match="box was deleted or made anew"):
        await apply_wave(rig.target, ledger, render.objects, seen=seen)
    assert await rig.get(box) is None


async def test_an_object_made_anew_since_the_dry_run_is_left_alone(rig: Rig) -> None:
    box = rig.config_map(side="theirs")
    await rig.create(box)
    render = render_of(rig.config_map(side="ours"))
    seen = (await dry_run(rig.target, render)).seen
    await rig.delete(box)
    await rig.create(box)
    ledger = await claimed(rig, await rig.release(), box)
    with pytest.raises(DeployFailed, match="made anew"):
        await apply_wave(rig.target, ledger, render.objects, seen=seen)
    live = await rig.get(box)
    assert live is not None
    assert live["data"] == {"side": "theirs"}


async def test_without_a_dry_run_existing_objects_are_read_and_updated(rig: Rig) -> None:
    uid = (await rig.create(rig.config_map(side="theirs")))["metadata"]["uid"]
    outcome = await rig.sync(await rig.release(), render_of(rig.config_map(side="ours")), force=True)
    assert [each.uid for each in outcome.applied] == [uid]


async def test_planned_keys_have_the_uid_that_was_seen_before_the_first_request(rig: Rig) -> None:
    release = await rig.release()
    box = rig.config_map()
    uid = (await rig.create(box))["metadata"]["uid"]
    ledger = await claimed(rig, release, box)
    seen = {key("ConfigMap", "box", namespace=rig.namespace): Seen(uid, "1")}
    with pytest.raises(Interrupted):
        await apply_wave(rig.target, ledger, render_of(box).objects, seen=seen, should_stop=lambda: True)
    assert [each.uid for each in (await rig.record(release)).planned] == [uid]


async def test_an_attempt_that_was_overtaken_applies_nothing(rig: Rig) -> None:
    release = await rig.release()
    box = rig.config_map()
    await claimed(rig, release, box)
    old = await rig.ledger(release)
    await (await rig.ledger(release)).begin()
    with pytest.raises(Fenced):
        await apply_wave(rig.target, old, render_of(box).objects, seen={})
    assert await rig.get(box) is None


async def test_a_crd_and_its_custom_resources_in_one_wave(rig: Rig) -> None:
    crd = rig.crd("Spoon", properties={"length": {"x-kubernetes-int-or-string": True}})
    spoons = [rig.custom("Spoon", "long", length=30), rig.custom("Spoon", "short", length="12")]
    await rig.sync(await rig.release(), render_of(crd, *spoons))
    assert all([await rig.get(each) for each in spoons])


async def test_a_crd_and_its_custom_resource_in_two_waves(rig: Rig) -> None:
    crd = rig.crd("Teapot", properties={"cups": {"type": "integer"}}, wave=-5)
    pot = rig.custom("Teapot", "round", wave=5, cups=4)
    await rig.sync(await rig.release(), render_of(pot, crd))
    assert await rig.get(pot) is not None


async def test_a_second_version_of_a_known_crd_is_served_at_once(rig: Rig) -> None:
    release = await rig.release()
    crd = rig.crd("Fork")
    await rig.sync(release, render_of(crd))
    versions: list[dict[str, Any]] = crd["spec"]["versions"]
    versions.append({**versions[0], "name": "v2", "storage": False})
    fork = rig.custom("Fork", "small")
    fork["apiVersion"] = f"{rig.group}/v2"
    await rig.sync(release, render_of(crd, fork))
    assert await rig.get(fork) is not None


async def test_a_crd_whose_names_are_taken_says_so(rig: Rig) -> None:
    release = await rig.release()
    await rig.sync(release, render_of(rig.crd("Knife")))
    other = rig.crd("Knife")
    other["metadata"]["name"] = f"blades.{rig.group}"
    other["spec"]["names"]["plural"] = "blades"
    rig.crds.append(other["metadata"]["name"])
    with pytest.raises(DeployFailed, match=f"blades.{rig.group}"):
        await rig.sync(release, render_of(other))


async def test_a_kind_that_nobody_knows_fails_by_name(rig: Rig) -> None:
    release = await rig.release()
    render = render_of(rig.config_map("before"), rig.custom("Unicorn", "white"), rig.config_map("after"))
    with pytest.raises(DeployFailed, match=f"Unicorn.{rig.group}"):
        await rig.sync(release, render)
    assert await rig.names(release) == ["before"]


async def test_heals_once_the_kind_is_there(rig: Rig) -> None:
    release = await rig.release()
    unicorn = rig.custom("Unicorn", "white")
    with pytest.raises(DeployFailed):
        await rig.sync(release, render_of(unicorn))
    await rig.create(rig.crd("Unicorn"))
    await until_served(rig.home, f"unicorns.{rig.group}", rig.target.discovery)
    await rig.sync(release, render_of(unicorn))
    assert await rig.get(unicorn) is not None


async def test_a_namespace_and_its_objects_in_one_render(rig: Rig) -> None:
    name = f"{rig.namespace}-attic"
    box = rig.config_map()
    box["metadata"]["namespace"] = name
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "mouse", "namespace": name}}
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    await rig.sync(await rig.release(), render_of(namespace, box, account))
    assert await rig.get(box) is not None
    await rig.home.delete(NAMESPACES, None, name)


async def test_an_ignored_field_keeps_its_live_value(rig: Rig) -> None:
    release = await rig.release()
    box = rig.config_map(owned="ours", shared="first")
    await rig.sync(release, render_of(box))
    await rig.home.patch(
        await rig.resource(box), rig.namespace, "box", {"data": {"shared": "live"}}, manager="other"
    )
    ignore = [IgnoreDifferences(kind="ConfigMap", paths=("/data/shared",))]
    render = render_of(rig.config_map(owned="new", shared="second"))
    ledger = await rig.ledger(release)
    await apply_wave(rig.target, ledger, render.objects, seen=None, ignore=ignore)
    live = await rig.get(box)
    assert live is not None
    assert live["data"] == {"owned": "new", "shared": "live"}


async def test_a_namespace_being_deleted_is_tried_again_and_then_a_failure(rig: Rig) -> None:
    async with rig.terminating_namespace() as name:
        box = rig.config_map()
        box["metadata"]["namespace"] = name
        with pytest.raises(DeployFailed, match=rf"{name}/box: .*terminated"):
            await rig.sync(await rig.release(), render_of(box), force=True)


async def test_an_object_of_almost_one_mebibyte(rig: Rig) -> None:
    hull = rig.config_map("hull", blob="x" * 900_000)
    await rig.sync(await rig.release(), render_of(hull))
    live = await rig.get(hull)
    assert live is not None
    assert "annotations" not in live["metadata"]
