"""Writers of one status, and writers of one annotation, do not lose each other's work."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml

from convoy.api.names import HEALTH_REQUESTED_AT, MANAGER, SYNC_FORCE_REQUESTED_AT, SYNC_REQUESTED_AT
from convoy.api.objects import Manifest
from convoy.api.times import parse_time
from convoy.kube.annotate import request_sync
from convoy.kube.client import KubeClient
from convoy.kube.encode import apply_body
from convoy.kube.errors import NotFound, UidMismatch
from convoy.kube.resources import CRDS, RELEASES, Resource
from convoy.kube.status import write_status
from tests.waiting import until_served

NOW = datetime(2030, 1, 1, 12, 0, 0, tzinfo=UTC)
CRD = (Path(__file__).parents[3] / "deploy/crds/releases.convoy.kumodo.io.yaml").read_text()


def always(status: Manifest) -> Callable[[Manifest], Manifest]:
    return lambda _: status


@pytest.fixture
async def thing(home: KubeClient, custom: Resource, namespace: str) -> Manifest:
    metadata = {"name": "it", "namespace": namespace}
    tree = {"apiVersion": custom.api_version, "kind": custom.kind, "metadata": metadata, "spec": {}}
    return await home.create(tree, custom)


async def test_what_is_computed_from_others_is_never_stale(
    home: KubeClient, custom: Resource, thing: Manifest
) -> None:
    namespace, name = thing["metadata"]["namespace"], "it"

    async def writer(number: int) -> None:
        def build(tree: Manifest) -> Manifest:
            others = {key for key in tree.get("status") or {} if key.startswith("by-")}
            return {f"by-{number}": "x", "count": len(others | {f"by-{number}"})}

        await write_status(home, custom, namespace, name, manager=f"writer-{number}", build=build)

    await asyncio.gather(*(writer(number) for number in range(8)))
    status = (await home.get(custom, namespace, name))["status"]
    assert status["count"] == 8


async def test_a_writer_that_sends_less_gives_up_the_rest(
    home: KubeClient, custom: Resource, thing: Manifest
) -> None:
    namespace = thing["metadata"]["namespace"]
    for status in ({"a": 1, "b": 2}, {"a": 3}):
        live = await write_status(home, custom, namespace, "it", manager="one", build=always(status))
    assert live["status"] == {"a": 3}


async def test_nothing_to_write_writes_nothing(home: KubeClient, custom: Resource, thing: Manifest) -> None:
    namespace = thing["metadata"]["namespace"]
    live = await write_status(home, custom, namespace, "it", manager="one", build=lambda _: None)
    assert live["metadata"]["resourceVersion"] == thing["metadata"]["resourceVersion"]


async def test_a_status_never_lands_on_an_object_made_anew(
    home: KubeClient, custom: Resource, thing: Manifest
) -> None:
    namespace = thing["metadata"]["namespace"]
    await home.delete(custom, namespace, "it")
    with pytest.raises(NotFound):
        await write_status(
            home, custom, namespace, "it", manager="one", build=lambda _: {"a": 1}, known=thing
        )
    await home.create({**thing, "metadata": {"name": "it", "namespace": namespace}}, custom)
    with pytest.raises(UidMismatch):
        await write_status(
            home, custom, namespace, "it", manager="one", build=lambda _: {"a": 1}, known=thing
        )


@pytest.fixture
async def release(home: KubeClient, namespace: str) -> AsyncIterator[str]:
    """A Release's namespace; its name is `it`."""
    crd = yaml.safe_load(CRD)
    await home.apply(apply_body(crd), CRDS, None, crd["metadata"]["name"])
    await until_served(home, crd["metadata"]["name"])
    spec = {"clusterRef": {"name": "x"}, "source": {"inline": {"files": {}}}, "content": {"manifests": {}}}
    tree = {"apiVersion": RELEASES.api_version, "kind": RELEASES.kind, "spec": spec}
    await home.create({**tree, "metadata": {"name": "it", "namespace": namespace}}, RELEASES)
    yield namespace
    await home.delete(RELEASES, namespace, "it")


async def annotations_of(home: KubeClient, namespace: str) -> dict[str, str]:
    found: dict[str, str] = (await home.get(RELEASES, namespace, "it"))["metadata"].get("annotations") or {}
    return found


async def test_requests_of_one_second_are_all_different(home: KubeClient, release: str) -> None:
    requested = await asyncio.gather(*(request_sync(home, release, "it", now=NOW) for _ in range(6)))
    assert len(set(requested)) == 6
    assert (await annotations_of(home, release))[SYNC_REQUESTED_AT] == max(requested)


async def test_a_clock_that_is_behind_never_replaces_a_pending_request(
    home: KubeClient, release: str
) -> None:
    first = await request_sync(home, release, "it", now=NOW)
    second = await request_sync(home, release, "it", now=NOW - timedelta(hours=1))
    assert parse_time(second) == parse_time(first) + timedelta(seconds=1)


async def test_a_forced_request_is_a_request_too(home: KubeClient, release: str) -> None:
    plain = await request_sync(home, release, "it", now=NOW)
    forced = await request_sync(home, release, "it", now=NOW, force=True)
    assert forced > plain
    assert await annotations_of(home, release) == {SYNC_REQUESTED_AT: forced, SYNC_FORCE_REQUESTED_AT: forced}


async def test_health_writes_nothing_over_a_request_that_no_pass_has_seen(
    home: KubeClient, release: str
) -> None:
    asked = await request_sync(home, release, "it", now=NOW)
    assert await request_sync(home, release, "it", now=NOW, by=HEALTH_REQUESTED_AT) == asked
    assert await annotations_of(home, release) == {SYNC_REQUESTED_AT: asked}


async def test_a_person_and_health_at_the_same_moment_lose_no_request(home: KubeClient, release: str) -> None:
    person, *_ = await asyncio.gather(
        request_sync(home, release, "it", now=NOW),
        *(request_sync(home, release, "it", now=NOW, by=HEALTH_REQUESTED_AT) for _ in range(5)),
    )
    assert (await annotations_of(home, release))[SYNC_REQUESTED_AT] == person


async def test_a_request_for_a_release_made_anew_is_refused(home: KubeClient, release: str) -> None:
    with pytest.raises(UidMismatch):
        await request_sync(home, release, "it", now=NOW, uid="another")
    assert await annotations_of(home, release) == {}


async def test_a_loop_of_convoys_leaves_a_request_alone_that_no_pass_has_seen(
    home: KubeClient, release: str
) -> None:
    asked = await request_sync(home, release, "it", now=NOW)

    assert await request_sync(home, release, "it", now=NOW, by=HEALTH_REQUESTED_AT) == asked
    assert await annotations_of(home, release) == {SYNC_REQUESTED_AT: asked}

    await write_status(
        home,
        RELEASES,
        release,
        "it",
        manager=MANAGER,
        build=lambda _: {"handled": {"syncRequestedAt": asked}},
    )
    later = await request_sync(home, release, "it", now=NOW, by=HEALTH_REQUESTED_AT)
    assert later > asked
    assert await annotations_of(home, release) == {SYNC_REQUESTED_AT: later, HEALTH_REQUESTED_AT: later}
