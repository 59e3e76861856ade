"""The end of a Release: objects, finalizers, and a way out where the target is gone."""

from __future__ import annotations

from typing import NoReturn

import pytest

from convoy.api.cluster import Cluster
from convoy.api.errors import ClusterNotReady, PruneFailed
from convoy.api.names import ABANDON, API_VERSION, CLUSTER_FINALIZER, FINALIZER
from convoy.api.objects import Manifest
from convoy.api.release import Release
from convoy.kube.connection import impersonating
from convoy.kube.errors import NotFound
from convoy.kube.resources import CLUSTERS, INVENTORIES, NAMESPACES, RELEASES, SECRETS, Resource
from convoy.kube.targets import Target
from convoy.sync.finalizers import ensure_finalizers
from convoy.sync.teardown import TornDown, teardown
from tests.kube.sync.rig import Rig, epoch, render_of, retarget
from tests.waiting import eventually


async def cluster(rig: Rig) -> Cluster:
    await rig.home.create(
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "kubeconfig", "namespace": rig.namespace},
            "data": {"kubeconfig": "e30="},
        },
        SECRETS,
    )
    tree = await rig.home.create(
        {
            "apiVersion": API_VERSION,
            "kind": "Cluster",
            "metadata": {"name": "target", "namespace": rig.namespace},
            "spec": {"kubeconfigSecretRef": {"name": "kubeconfig"}},
        },
        CLUSTERS,
    )
    return Cluster.model_validate(tree)


async def finalizers(rig: Rig, resource: Resource, name: str) -> list[str] | None:
    try:
        tree = await rig.home.get(resource, rig.namespace, name)
    except NotFound:
        return None
    return list(tree["metadata"].get("finalizers") or [])


async def tear_down(rig: Rig, release: Release) -> TornDown:
    async def connect() -> Target:
        return rig.target

    return await teardown(
        rig.home, await rig.reread(release), connect=connect, ownership=rig.ownership, epoch=epoch()
    )


async def synced(rig: Rig, release: Release, *manifests: Manifest) -> None:
    await ensure_finalizers(
        rig.home, release, Cluster.model_validate(await rig.home.get(CLUSTERS, rig.namespace, "target"))
    )
    await rig.sync(release, render_of(*manifests))


async def unreachable() -> NoReturn:
    raise ClusterNotReady("Cluster target: no route")


async def test_a_sync_puts_finalizers_on_release_cluster_and_secret_once(rig: Rig) -> None:
    release, target = await rig.release(), await cluster(rig)
    for _ in range(2):
        await ensure_finalizers(rig.home, release, target)
    assert await finalizers(rig, RELEASES, "a") == [FINALIZER]
    assert await finalizers(rig, CLUSTERS, "target") == [CLUSTER_FINALIZER]
    assert await finalizers(rig, SECRETS, "kubeconfig") == [CLUSTER_FINALIZER]


async def test_a_missing_secret_or_a_cluster_being_deleted_is_not_ready(rig: Rig) -> None:
    release, target = await rig.release(), await cluster(rig)
    await rig.home.delete(SECRETS, rig.namespace, "kubeconfig")
    with pytest.raises(ClusterNotReady, match=r"Secret .*/kubeconfig does not exist"):
        await ensure_finalizers(rig.home, release, target)


async def test_orphan_leaves_the_objects_and_every_trace_of_convoy_goes(rig: Rig) -> None:
    release = await rig.release(onDelete="Orphan")
    await cluster(rig)
    await synced(rig, release, rig.config_map())
    await rig.home.delete(RELEASES, rig.namespace, "a")
    done = await tear_down(rig, release)
    assert (done.pruned.deleted, done.left) == ((), 1)
    assert await rig.get(rig.config_map()) is not None
    assert await finalizers(rig, RELEASES, "a") is None
    assert await finalizers(rig, INVENTORIES, "a") is None
    assert await finalizers(rig, CLUSTERS, "target") == []
    assert await finalizers(rig, SECRETS, "kubeconfig") == []


async def test_orphan_needs_no_target(rig: Rig) -> None:
    release = await rig.release()
    await cluster(rig)
    await synced(rig, release, rig.config_map())
    await rig.home.delete(RELEASES, rig.namespace, "a")
    await teardown(
        rig.home, await rig.reread(release), connect=unreachable, ownership=rig.ownership, epoch=epoch()
    )
    assert await finalizers(rig, RELEASES, "a") is None


async def test_prune_deletes_in_reverse_waves_and_keeps_what_is_protected(rig: Rig) -> None:
    release = await rig.release(onDelete="Prune")
    await cluster(rig)
    name = f"{rig.namespace}-barn"
    barn = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    await synced(rig, release, barn, rig.config_map("first", wave=-1), rig.config_map("last", wave=3))
    await rig.home.delete(RELEASES, rig.namespace, "a")
    done = await tear_down(rig, release)
    assert [each.name for each in done.pruned.deleted] == ["last", "first"]
    assert done.left == 1
    assert await rig.get(barn) is not None
    await rig.home.delete(NAMESPACES, None, name)


async def test_prune_leaves_what_another_release_claims(rig: Rig) -> None:
    release, other = await rig.release(onDelete="Prune"), await rig.release("b")
    await cluster(rig)
    await synced(rig, release, rig.config_map())
    with pytest.raises(Exception, match="waits until it lets go"):
        await rig.sync(other, render_of(rig.config_map()))
    await rig.home.delete(RELEASES, rig.namespace, "a")
    assert (await tear_down(rig, release)).pruned.deleted == ()
    assert await rig.get(rig.config_map()) is not None
    await rig.sync(other, render_of(rig.config_map()))


async def test_the_cluster_is_held_as_long_as_another_release_refers_to_it(rig: Rig) -> None:
    release, other = await rig.release(), await rig.release("b")
    await cluster(rig)
    for each in (release, other):
        await synced(rig, each)
    await rig.home.delete(RELEASES, rig.namespace, "a")
    await tear_down(rig, release)
    assert await finalizers(rig, CLUSTERS, "target") == [CLUSTER_FINALIZER]
    assert await finalizers(rig, SECRETS, "kubeconfig") == [CLUSTER_FINALIZER]
    await rig.home.delete(RELEASES, rig.namespace, "b")
    await tear_down(rig, other)
    assert await finalizers(rig, CLUSTERS, "target") == []


async def test_an_unreachable_target_keeps_the_release_and_says_how_to_give_up(rig: Rig) -> None:
    release = await rig.release(onDelete="Prune")
    await cluster(rig)
    await synced(rig, release, rig.config_map())
    await rig.home.delete(RELEASES, rig.namespace, "a")
    with pytest.raises(ClusterNotReady, match=rf"(?s)no route.*{ABANDON}=true"):
        await teardown(
            rig.home, await rig.reread(release), connect=unreachable, ownership=rig.ownership, epoch=epoch()
        )
    assert await finalizers(rig, RELEASES, "a") == [FINALIZER]

    await rig.home.patch(RELEASES, rig.namespace, "a", {"metadata": {"annotations": {ABANDON: "true"}}})
    done = await teardown(
        rig.home, await rig.reread(release), connect=unreachable, ownership=rig.ownership, epoch=epoch()
    )
    assert done.left == 1
    assert await finalizers(rig, RELEASES, "a") is None


async def test_a_delete_that_fails_keeps_the_release_and_says_how_to_give_up(rig: Rig) -> None:
    release = await rig.release(onDelete="Prune")
    await cluster(rig)
    await synced(rig, release, rig.config_map())
    await rig.home.delete(RELEASES, rig.namespace, "a")
    async with impersonating(rig.home, "nobody-at-all") as client:

        async def connect() -> Target:
            return retarget(rig.target, client)

        with pytest.raises(PruneFailed, match=rf"(?s)box: .*forbidden.*{ABANDON}=true"):
            await teardown(
                rig.home, await rig.reread(release), connect=connect, ownership=rig.ownership, epoch=epoch()
            )
    assert await finalizers(rig, INVENTORIES, "a") == [FINALIZER]


@pytest.mark.parametrize("done_before", ["cluster", "inventory", "nothing"])
async def test_a_teardown_that_crashed_goes_on(rig: Rig, done_before: str) -> None:
    release = await rig.release(onDelete="Prune")
    await cluster(rig)
    await synced(rig, release, rig.config_map())
    await rig.home.delete(RELEASES, rig.namespace, "a")
    if done_before == "cluster":
        for resource, name in ((CLUSTERS, "target"), (SECRETS, "kubeconfig")):
            await rig.home.patch(resource, rig.namespace, name, {"metadata": {"finalizers": None}})
    if done_before == "inventory":
        await rig.home.patch(INVENTORIES, rig.namespace, "a", {"metadata": {"finalizers": None}})
        await rig.home.delete(INVENTORIES, rig.namespace, "a")
    await tear_down(rig, release)
    assert await finalizers(rig, RELEASES, "a") is None


async def test_a_release_that_was_never_synced_just_goes(rig: Rig) -> None:
    release = await rig.release(onDelete="Prune")
    await rig.home.patch(RELEASES, rig.namespace, "a", {"metadata": {"finalizers": [FINALIZER]}})
    await rig.home.delete(RELEASES, rig.namespace, "a")
    await teardown(
        rig.home, await rig.reread(release), connect=unreachable, ownership=rig.ownership, epoch=epoch()
    )
    assert await finalizers(rig, RELEASES, "a") is None


async def test_a_foreground_deletion_leaves_the_inventory_to_the_teardown(rig: Rig) -> None:
    release = await rig.release(onDelete="Prune")
    await cluster(rig)
    await synced(rig, release, rig.config_map())
    await rig.home.delete(RELEASES, rig.namespace, "a", propagation="Foreground")

    async def inventory_is_going() -> bool:
        tree = await rig.home.get(INVENTORIES, rig.namespace, "a")
        return "deletionTimestamp" in tree["metadata"]

    await eventually(inventory_is_going)
    done = await tear_down(rig, release)
    assert [each.name for each in done.pruned.deleted] == ["box"]

    async def gone() -> bool:
        return await finalizers(rig, RELEASES, "a") is None

    await eventually(gone)


async def test_a_deletion_of_the_whole_namespace_still_prunes(rig: Rig) -> None:
    release = await rig.release(onDelete="Prune")
    await cluster(rig)
    elsewhere = f"{rig.namespace}-apps"
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": elsewhere}}
    await rig.create(namespace)
    box = rig.config_map()
    box["metadata"]["namespace"] = elsewhere
    await synced(rig, release, box)
    await rig.home.delete(NAMESPACES, None, rig.namespace)

    async def all_going() -> bool:
        trees = [
            await rig.home.get(resource, rig.namespace, name)
            for resource, name in ((RELEASES, "a"), (INVENTORIES, "a"), (CLUSTERS, "target"))
        ]
        return all("deletionTimestamp" in tree["metadata"] for tree in trees)

    await eventually(all_going)
    done = await tear_down(rig, release)
    assert [each.name for each in done.pruned.deleted] == ["box"]

    async def namespace_gone() -> bool:
        try:
            await rig.home.get(NAMESPACES, None, rig.namespace)
        except NotFound:
            return True
        return False

    await eventually(namespace_gone)
    await rig.open()  # for the rig's own cleanup
    await rig.delete(namespace)
