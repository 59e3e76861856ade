"""`reference/drift`, The desired render: pin, last healthy where rolled back, fresh; a sync stops at a lost pin."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from convoy.api.errors import DeployFailed, Pinned, Unsupported
from convoy.api.names import API_VERSION
from convoy.api.release import Release
from convoy.kube.client import KubeClient
from convoy.kube.resources import CLUSTERS
from convoy.kube.targets import Target, Targets
from convoy.render.resolve import Renderer, RenderOptions
from convoy.store.cache import Cache
from convoy.store.crypto import InstallationKey
from convoy.store.renders import Renders
from convoy.store.store import RenderStore
from convoy.sync.desired import DesiredRenders
from convoy.sync.desired_order import Origin

KEY = InstallationKey(b"k" * 32)
UID = "11111111-2222"
LOST = f"sha256:{'0' * 64}"


class Desire:
    """Releases that differ in what they want, on one Cluster."""

    def __init__(
        self, home: KubeClient, target: Target, namespace: str, folder: Path, *, store: bool
    ) -> None:
        bucket = RenderStore.open(f"file://{folder}/store") if store else None
        self.renders = Renders(bucket, Cache(folder / "renders"), key=KEY)
        self.home = home
        self.namespace = namespace
        self.targets = Targets(home, allow_own_identity=True, allow_private=True)
        self._home_uid = target.uid
        self._options = RenderOptions(cache=folder / "sources")

    def resolver(self, own_namespace: str | None = None) -> DesiredRenders:
        return DesiredRenders(
            self.home,
            targets=self.targets,
            renderer=Renderer(renders=self.renders, key=KEY, options=self._options),
            renders=self.renders,
            home_uid=self._home_uid,
            own_namespace=own_namespace,
        )

    def release(self, text: str, *, pin: str = "", **rollout: str) -> Release:
        manifest = (
            f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a, namespace: {self.namespace}}}\n{text}"
        )
        tree: dict[str, Any] = {
            "metadata": {"name": "shop", "namespace": self.namespace, "uid": UID},
            "spec": {
                "clusterRef": {"name": "here"},
                "source": {"inline": {"files": {"a.yaml": manifest}}},
                "content": {"manifests": {}},
                "failurePolicy": {"action": "Rollback"},
            },
            "status": {"rollout": rollout},
        }
        return Release.read(tree | ({"pin": {"renderRef": pin}} if pin else {}))

    async def stored(self, text: str) -> str:
        """Render as a sync does, and keep the render for pins."""
        ref = (await self.resolver().resolve(self.release(text))).render.ref
        await self.renders.publish(UID, ref)
        return ref


@pytest.fixture(params=[True], ids=["with a store"])
async def desire(
    home: KubeClient, target: Target, namespace: str, tmp_path: Path, request: pytest.FixtureRequest
) -> AsyncIterator[Desire]:
    cluster = {
        "apiVersion": API_VERSION,
        "kind": "Cluster",
        "metadata": {"name": "here", "namespace": namespace},
        "spec": {"inCluster": {}},
    }
    await home.create(cluster, CLUSTERS)
    opened = Desire(home, target, namespace, tmp_path, store=request.param)
    yield opened
    await opened.targets.close()


async def test_without_a_pin_it_is_the_fresh_render(desire: Desire) -> None:
    found = await desire.resolver().resolve(desire.release("data: {v: new}"))

    assert (found.origin, found.pin_missing) == (Origin.FRESH, False)


async def test_the_pin_comes_before_the_last_healthy_render(desire: Desire) -> None:
    pinned, healthy = await desire.stored("data: {v: pinned}"), await desire.stored("data: {v: healthy}")
    release = desire.release("data: {v: new}", pin=pinned, phase="RolledBack", lastHealthyRenderRef=healthy)

    for found in (
        await desire.resolver().resolve(release),
        await desire.resolver().resolve_to_apply(release),
    ):
        assert (found.origin, found.render.ref, found.pin_missing) == (Origin.PIN, pinned, False)


async def test_what_a_changed_release_gives_is_rendered_whatever_is_stored(desire: Desire) -> None:
    stored = await desire.stored("data: {v: stored}")
    release = desire.release("data: {v: new}", pin=stored, phase="RolledBack", lastHealthyRenderRef=stored)

    found = await desire.resolver().resolve_fresh(release)

    assert (found.origin, found.pin_missing) == (Origin.FRESH, False)
    assert [item.manifest["data"] for item in found.render.objects] == [{"v": "new"}]


async def test_a_rolled_back_release_gets_its_last_healthy_render(desire: Desire) -> None:
    healthy = await desire.stored("data: {v: healthy}")
    release = desire.release("data: {v: new}", phase="RolledBack", lastHealthyRenderRef=healthy)

    for found in (
        await desire.resolver().resolve(release),
        await desire.resolver().resolve_to_apply(release),
    ):
        assert (found.origin, found.render.ref) == (Origin.LAST_HEALTHY, healthy)


async def test_a_last_healthy_render_that_is_lost_gives_way_to_the_fresh_one(desire: Desire) -> None:
    release = desire.release("data: {v: new}", phase="RolledBack", lastHealthyRenderRef=LOST)

    assert (await desire.resolver().resolve(release)).origin is Origin.FRESH


async def test_a_sync_never_applies_what_failed_in_place_of_a_lost_rollback(desire: Desire) -> None:
    failed = await desire.stored("data: {v: failed}")
    rollout = {"phase": "RolledBack", "renderRef": failed, "lastHealthyRenderRef": LOST}
    release = desire.release("data: {v: failed}", **rollout)

    with pytest.raises(
        DeployFailed, match=f"rolled back to its last healthy render, and .* no render {LOST}"
    ):
        await desire.resolver().resolve_to_apply(release)
    compared = await desire.resolver().resolve(release)
    assert (compared.origin, compared.render.ref, compared.to_apply) == (Origin.FRESH, failed, "")


async def test_a_fix_ends_a_rollback_whose_render_is_lost(desire: Desire) -> None:
    failed = await desire.stored("data: {v: failed}")
    rollout = {"phase": "RolledBack", "renderRef": failed, "lastHealthyRenderRef": LOST}

    found = await desire.resolver().resolve_to_apply(desire.release("data: {v: fixed}", **rollout))

    assert (found.origin, found.to_apply) == (Origin.FRESH, found.render.ref)


async def test_a_rollback_stays_while_the_source_gives_what_failed(desire: Desire) -> None:
    healthy, failed = await desire.stored("data: {v: healthy}"), await desire.stored("data: {v: failed}")
    rollout = {"phase": "RolledBack", "renderRef": failed, "lastHealthyRenderRef": healthy}

    same = await desire.resolver().resolve_to_apply(desire.release("data: {v: failed}", **rollout))
    assert (same.origin, same.render.ref, same.fault) == (Origin.LAST_HEALTHY, healthy, "")

    for found in (
        await desire.resolver().resolve(desire.release("data: {v: fixed}", **rollout)),
        await desire.resolver().resolve_to_apply(desire.release("data: {v: fixed}", **rollout)),
    ):
        assert found.origin is Origin.FRESH
        assert [item.manifest["data"] for item in found.render.objects] == [{"v": "fixed"}]


async def test_a_source_that_fails_ends_no_rollback_and_the_fault_is_told(desire: Desire) -> None:
    healthy, failed = await desire.stored("data: {v: healthy}"), await desire.stored("data: {v: failed}")
    rollout = {"phase": "RolledBack", "renderRef": failed, "lastHealthyRenderRef": healthy}

    found = await desire.resolver().resolve_to_apply(desire.release("data: [", **rollout))

    assert (found.origin, found.render.ref) == (Origin.LAST_HEALTHY, healthy)
    assert found.fault.startswith("Unsupported: a.yaml")


async def test_a_lost_pin_ends_a_sync_and_lets_a_comparison_go_on(desire: Desire) -> None:
    healthy = await desire.stored("data: {v: healthy}")
    rolled_back = desire.release("data: {v: new}", pin=LOST, phase="RolledBack", lastHealthyRenderRef=healthy)
    plain = desire.release("data: {v: new}", pin=LOST)

    for release, origin in ((rolled_back, Origin.LAST_HEALTHY), (plain, Origin.FRESH)):
        found = await desire.resolver().resolve(release)
        assert (found.origin, found.pin_missing) == (origin, True)
        with pytest.raises(Pinned, match=rf"pin\.renderRef: the render store has no render {LOST}"):
            await desire.resolver().resolve_to_apply(release)


@pytest.mark.parametrize("desire", [False], ids=["without a store"], indirect=True)
async def test_without_a_store_no_pin_can_be_followed_and_the_message_says_why(desire: Desire) -> None:
    release = desire.release("data: {v: new}", pin=await desire.stored("data: {v: old}"))

    with pytest.raises(Pinned, match=r"this installation has no render store \(--render-store-url\)"):
        await desire.resolver().resolve_to_apply(release)
    assert (await desire.resolver().resolve(release)).origin is Origin.FRESH


async def test_a_pinned_render_may_not_reach_convoys_own_namespace_either(desire: Desire) -> None:
    pinned = await desire.stored("data: {v: old}")

    with pytest.raises(Unsupported, match=desire.namespace):
        await desire.resolver(desire.namespace).resolve(desire.release("data: {v: new}", pin=pinned))
