"""`ignoreDifferences` is left out of the compare and of the apply (D36)."""

from convoy.api.objects import Manifest
from convoy.drift.results import DriftStatus
from tests.kube.drift.rig import Rig, pointers

REPLICAS = ["/spec/replicas"]


def deployment(rig: Rig) -> Manifest:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "gull", "namespace": rig.namespace},
        "spec": {
            "paused": True,
            "replicas": 2,
            "selector": {"matchLabels": {"app": "gull"}},
            "template": {
                "metadata": {"labels": {"app": "gull"}},
                "spec": {"containers": [{"name": "main", "image": "fake.local/ready:1"}]},
            },
        },
    }


async def test_an_ignored_field_is_no_drift_and_survives_the_apply(rig: Rig) -> None:
    manifest = deployment(rig)
    await rig.apply(manifest)
    await rig.edit(manifest, {"spec": {"replicas": 5}}, manager="scaler", subresource="scale")
    assert pointers(await rig.compare(manifest)) == ["/spec/replicas"]
    assert (await rig.compare(manifest, ignored=REPLICAS)).status is DriftStatus.IN_SYNC
    await rig.apply(manifest, ignored=REPLICAS, live=await rig.get(manifest))
    assert (await rig.get(manifest))["spec"]["replicas"] == 5
    assert (await rig.compare(manifest, ignored=REPLICAS)).status is DriftStatus.IN_SYNC


async def test_other_fields_of_the_object_still_show(rig: Rig) -> None:
    manifest = deployment(rig)
    await rig.apply(manifest)
    await rig.edit(manifest, {"spec": {"replicas": 5, "paused": False, "minReadySeconds": 3}})
    assert pointers(await rig.compare(manifest, ignored=REPLICAS)) == ["/spec/paused"]


async def test_everything_below_an_ignored_field_is_ignored(rig: Rig) -> None:
    manifest = rig.config_map(jam="plum", tea="mint")
    await rig.apply(manifest)
    await rig.edit(manifest, {"data": {"jam": "fig", "tea": None}})
    assert (await rig.compare(manifest, ignored=["/data"])).status is DriftStatus.IN_SYNC


async def test_an_ignored_field_that_the_render_dropped_is_no_drift(rig: Rig) -> None:
    await rig.apply(rig.config_map(jam="plum", old="x"))
    assert (
        await rig.compare(rig.config_map(jam="plum"), ignored=["/data/old"])
    ).status is DriftStatus.IN_SYNC


async def test_an_ignored_field_that_the_render_dropped_stays_as_it_is(rig: Rig) -> None:
    await rig.apply(deployment(rig))
    manifest = deployment(rig)
    del manifest["spec"]["replicas"]
    assert (await rig.compare(manifest, ignored=REPLICAS)).status is DriftStatus.IN_SYNC
    await rig.apply(manifest, ignored=REPLICAS, live=await rig.get(manifest))
    assert (await rig.get(manifest))["spec"]["replicas"] == 2


async def test_an_element_that_moved_behind_an_injected_one_is_the_one_that_is_ignored(rig: Rig) -> None:
    manifest = deployment(rig)
    template = manifest["spec"]["template"]["spec"]
    template["containers"] = [{"name": name, "image": "fake.local/ready:1"} for name in ("a", "b")]
    await rig.apply(manifest)
    live = (await rig.get(manifest))["spec"]["template"]["spec"]["containers"]
    injected = [{"name": "injected", "image": "fake.local/ready:1"}, *live]
    injected[1]["image"] = "fake.local/ready:2"
    patch = {"spec": {"template": {"spec": {"containers": injected}}}}
    await rig.edit(manifest, patch, manager="injector")
    path = "/spec/template/spec/containers/1/image"
    assert pointers(await rig.compare(manifest, ignored=[path])) == [path]
