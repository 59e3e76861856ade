"""What is remembered of the kinds of a cluster may be outdated, and decides nothing (D9, D12, D19)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from convoy.api.errors import DeployFailed
from convoy.api.objects import Manifest
from convoy.kube.discovery import Discovery
from convoy.kube.errors import KindUnknown
from convoy.kube.resources import CRDS
from convoy.sync.apply import apply_wave
from convoy.sync.crd_check import RenderedCrds
from convoy.sync.dryrun import dry_run
from convoy.sync.inventory import sending
from tests.kube.sync.rig import Rig, key, render_of
from tests.kube.sync.test_prune import pruned_while


def alpha_crd(rig: Rig, kind: str) -> Manifest:
    crd = rig.crd(kind)
    crd["spec"]["versions"][0]["name"] = "v1alpha1"
    return crd


def alpha(rig: Rig, kind: str, name: str) -> Manifest:
    return rig.custom(kind, name) | {"apiVersion": f"{rig.group}/v1alpha1"}


async def graduate(rig: Rig, crd: Manifest) -> None:
    """Serve v1 and no longer v1alpha1, and wait until the server does."""
    [version] = crd["spec"]["versions"]
    versions = [
        {**version, "name": "v1"},
        {**version, "served": False, "storage": False},
    ]
    await rig.home.patch(CRDS, None, crd["metadata"]["name"], {"spec": {"versions": versions}})
    await rig.unserved(alpha(rig, crd["spec"]["names"]["kind"], "any"))


async def test_an_object_whose_version_is_served_no_longer_is_deleted_all_the_same(rig: Rig) -> None:
    release = await rig.release()
    crd, newt, stays = alpha_crd(rig, "Newt"), alpha(rig, "Newt", "small"), rig.config_map("stays")
    await rig.sync(release, render_of(crd, newt, stays))
    await graduate(rig, crd)
    outcome = await rig.sync(release, render_of(stays))
    assert [each.name for each in outcome.pruned.deleted] == ["small"]
    assert await rig.get(rig.custom("Newt", "small")) is None


async def test_nor_is_it_called_absent_where_its_version_goes_at_the_last_moment(rig: Rig) -> None:
    release = await rig.release()
    crd, newt, stays = alpha_crd(rig, "Newt"), alpha(rig, "Newt", "small"), rig.config_map("stays")
    await rig.sync(release, render_of(crd, newt, stays))
    result = await pruned_while(rig, release, lambda: graduate(rig, crd))
    assert [each.name for each in result.deleted] == ["small"]
    assert await rig.get(rig.custom("Newt", "small")) is None


async def test_what_a_crash_left_in_doubt_is_found_in_the_version_that_is_served(rig: Rig) -> None:
    release = await rig.release()
    crd, newt = alpha_crd(rig, "Newt"), alpha(rig, "Newt", "small")
    await rig.sync(release, render_of(crd))
    ledger = await rig.ledger(release)
    await rig.claim(ledger, render_of(crd, newt))
    await ledger.write(lambda record: sending(record, {entry.key for entry in record.planned}, {}))
    applied = (
        f'{{"apiVersion":"{newt["apiVersion"]}","kind":"Newt","metadata":{{"name":"small"}},"spec":{{}}}}'
    )
    await rig.home.apply(applied.encode(), await rig.resource(newt), rig.namespace, "small")
    await graduate(rig, crd)
    await rig.claim(await rig.ledger(release), render_of(crd))
    assert [entry.key.kind for entry in (await rig.record(release)).objects] == [CRDS.kind, "Newt"]


async def test_a_crd_that_was_removed_by_hand_comes_back_with_its_objects(rig: Rig) -> None:
    release = await rig.release()
    crd, pot = (
        rig.crd("Teapot", properties={"cups": {"type": "integer"}}),
        rig.custom("Teapot", "round", cups=4),
    )
    await rig.sync(release, render_of(crd, pot))
    await rig.delete(crd)
    await rig.unserved(pot)
    checked = await dry_run(rig.target, render_of(crd, rig.custom("Teapot", "round", cups="many")))
    assert [each.key.name for each in checked.rejected] == ["round"]
    await rig.sync(release, render_of(crd, pot))
    assert await rig.get(pot) is not None


async def test_a_worker_that_was_told_that_a_kind_is_unknown_goes_on_with_the_wave_that_needs_it(
    rig: Rig,
) -> None:
    release = await rig.release()
    crd, pot = rig.crd("Teapot", wave=-1), rig.custom("Teapot", "round")
    render = render_of(crd, pot)
    other = replace(rig.target, discovery=Discovery(rig.home))
    ledger = await rig.ledger(release)
    await rig.claim(ledger, render)
    with pytest.raises(KindUnknown):
        await other.discovery.resource_for(rig.group, "Teapot", "v1")
    defined = RenderedCrds(render.objects).kinds
    first, second = (objects for _, objects in render.waves())
    await apply_wave(rig.target, ledger, first, seen={}, defined=defined)
    await apply_wave(other, ledger, second, seen={}, defined=defined)
    assert await rig.get(pot) is not None


async def test_a_new_version_of_a_crd_is_used_by_the_next_wave(rig: Rig) -> None:
    release = await rig.release()
    crd = rig.crd("Fork", wave=-1)
    await rig.sync(release, render_of(crd, rig.custom("Fork", "small")))
    [newer] = rig.crd("Fork", properties={"prongs": {"type": "integer"}})["spec"]["versions"]
    crd["spec"]["versions"] = [{**crd["spec"]["versions"][0], "storage": False}, {**newer, "name": "v2"}]
    fork = rig.custom("Fork", "small", prongs=3) | {"apiVersion": f"{rig.group}/v2"}
    await rig.sync(release, render_of(crd, fork))
    live = await rig.get(fork)
    assert live is not None
    assert live["spec"] == {"prongs": 3}


async def test_an_object_that_was_named_before_its_kind_was_known_is_tried_again(rig: Rig) -> None:
    """Nobody wrote its namespace, so its key is another one since the cluster knows that it is namespaced (D2)."""
    release = await rig.release()
    await rig.sync(release, render_of(rig.crd("Newt")))
    newt = rig.custom("Newt", "small")
    del newt["metadata"]["namespace"]
    with pytest.raises(DeployFailed, match="small: its kind is namespaced on the cluster"):
        await rig.sync(release, render_of(newt))
    with pytest.raises(DeployFailed, match="small: its kind is namespaced on the cluster"):
        await rig.sync(release, render_of(newt), force=True)
    with pytest.raises(DeployFailed, match="is cluster-scoped on the cluster"):
        await rig.sync(release, render_of(rig.crd("Toad") | {"metadata": rig.config_map()["metadata"]}))
    assert key("Newt", "small", group=rig.group) not in (await rig.record(release)).held()
