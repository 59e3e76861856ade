"""A write between the read and the dry run does not show as drift: the pair is read again, once (D30)."""

from collections.abc import Awaitable, Callable
from typing import Any

from convoy.api.objects import Manifest
from convoy.drift.compare import compare_object
from convoy.drift.results import DriftStatus
from convoy.kube.client import KubeClient
from convoy.kube.resources import Resource
from tests.kube.drift.rig import KEY, Rig, pointers, rendered


class Meddling(KubeClient):
    """A client on whose cluster something happens right after each read."""

    between: Callable[[int], Awaitable[Any]]
    reads = 0

    async def get(self, resource: Resource, namespace: str | None, name: str) -> Manifest:
        found = await super().get(resource, namespace, name)
        self.reads += 1
        await self.between(self.reads)
        return found


async def compare(rig: Rig, manifest: Manifest, between: Callable[[int], Awaitable[Any]]) -> tuple[Any, int]:
    async with Meddling(rig.client.endpoint) as client:
        client.between = between
        found = await compare_object(rendered(manifest), client=client, discovery=rig.discovery, key=KEY)
        return found, client.reads


async def test_a_write_in_between_is_read_again_and_is_no_drift(rig: Rig) -> None:
    manifest = rig.config_map(k="v")
    await rig.apply(manifest)

    async def write_once(read: int) -> None:
        if read == 1:
            await rig.edit(manifest, {"data": {"foreign": "x"}})

    found, reads = await compare(rig, manifest, write_once)
    assert (found.status, reads) == (DriftStatus.IN_SYNC, 2)


async def test_a_write_of_drift_in_between_is_seen_in_the_second_pair(rig: Rig) -> None:
    manifest = rig.config_map(k="v")
    await rig.apply(manifest)

    async def change_once(read: int) -> None:
        if read == 1:
            await rig.edit(manifest, {"data": {"k": "other"}})

    found, reads = await compare(rig, manifest, change_once)
    assert (pointers(found), reads) == (["/data/k"], 2)


async def test_an_object_that_changes_all_the_time_is_compared_as_it_is(rig: Rig) -> None:
    manifest = rig.config_map(k="v")
    await rig.apply(manifest)

    async def write_always(read: int) -> None:
        await rig.edit(manifest, {"data": {"k": f"other-{read}"}})

    found, reads = await compare(rig, manifest, write_always)
    assert (pointers(found), found.changes[0].live, reads) == (["/data/k"], "other-1", 2)


async def test_an_object_deleted_in_between_is_missing(rig: Rig) -> None:
    manifest = rig.config_map(k="v")
    await rig.apply(manifest)

    async def delete_once(read: int) -> None:
        if read == 1:
            await rig.delete(manifest)

    found, _ = await compare(rig, manifest, delete_once)
    assert found.status is DriftStatus.MISSING


async def test_an_object_deleted_and_made_anew_in_between_is_compared_as_the_new_one(rig: Rig) -> None:
    manifest = rig.config_map(k="v")
    await rig.apply(manifest)

    async def replace_once(read: int) -> None:
        if read == 1:
            await rig.delete(manifest)
            await rig.apply(manifest)

    found, reads = await compare(rig, manifest, replace_once)
    assert (found.status, reads) == (DriftStatus.IN_SYNC, 2)


async def test_an_object_that_vanishes_after_each_read_is_missing(rig: Rig) -> None:
    manifest = rig.config_map(k="v")
    await rig.apply(manifest)

    async def blink(read: int) -> None:
        await rig.delete(manifest)
        if read == 1:
            await rig.apply(manifest)
            await rig.edit(manifest, {"data": {"k": "w"}})

    found, _ = await compare(rig, manifest, blink)
    assert found.status is DriftStatus.MISSING
