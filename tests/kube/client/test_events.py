"""Events about an object are written, counted instead of repeated, and never fail a sync."""

from __future__ import annotations

from convoy.api.objects import Manifest
from convoy.kube.client import Endpoint, KubeClient
from convoy.kube.encode import apply_body
from convoy.kube.events import Events
from convoy.kube.resources import CONFIG_MAPS, EVENTS


async def subject(home: KubeClient, namespace: str) -> Manifest:
    tree = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "it", "namespace": namespace}}
    return await home.apply(apply_body(tree), CONFIG_MAPS, namespace, "it")


async def test_the_same_event_is_counted_also_by_another_process(home: KubeClient, namespace: str) -> None:
    about = await subject(home, namespace)
    for instance in ("one", "one", "two"):
        await Events(home, instance=instance).emit(about, reason="DeployFailed", note="no", type="Warning")
    await Events(home, instance="one").emit(about, reason="DeployFailed", note="still no", type="Warning")
    found = {event["note"]: event for event in await home.list(EVENTS, namespace)}
    assert found["no"]["series"]["count"] == 3
    assert "series" not in found["still no"]
    assert found["no"]["reportingController"] == "convoy.kumodo.io/convoy"
    assert found["no"]["regarding"]["uid"] == about["metadata"]["uid"]


async def test_a_long_note_is_cut_to_what_the_server_takes(home: KubeClient, namespace: str) -> None:
    about = await subject(home, namespace)
    await Events(home, instance="one").emit(about, reason="DeployFailed", note="é" * 2000)
    (event,) = await home.list(EVENTS, namespace)
    assert event["note"].endswith("é…")


async def test_an_event_that_cannot_be_written_raises_nothing(home: KubeClient, namespace: str) -> None:
    about = await subject(home, namespace)
    await Events(home, instance="one").emit(about, reason="not a reason " * 50, note="x", action="")
    async with KubeClient(Endpoint(server="http://127.0.0.1:1")) as nowhere:
        await nowhere.close()
        await Events(nowhere, instance="one").emit(about, reason="DeployFailed", note="x")
