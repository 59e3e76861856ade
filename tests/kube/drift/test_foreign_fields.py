"""Whose field it is decides (`reference/drift`, How the observer compares; D29)."""

from convoy.api.objects import Manifest
from convoy.drift.results import DriftStatus, ObjectDrift
from tests.kube.drift.rig import Rig, pointers


def owners(found: ObjectDrift) -> dict[str, str | None]:
    return {change.pointer: change.owner.manager if change.owner else None for change in found.changes}


def deployment(rig: Rig) -> Manifest:
    container = {
        "name": "main",
        "image": "fake.local/ready:1",
        "env": [{"name": "TIDE", "value": "low"}, {"name": "MOON", "value": "full"}],
        "args": ["a", "b"],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "gull", "namespace": rig.namespace},
        "spec": {
            "paused": True,
            "selector": {"matchLabels": {"app": "gull"}},
            "template": {"metadata": {"labels": {"app": "gull"}}, "spec": {"containers": [container]}},
        },
    }


async def test_a_field_that_another_manager_owns_and_the_render_does_not_set_is_no_drift(rig: Rig) -> None:
    manifest = rig.config_map(jam="plum")
    await rig.apply(manifest)
    await rig.edit(manifest, {"data": {"honey": "lime"}, "metadata": {"labels": {"team": "night"}}})
    assert (await rig.compare(manifest)).status is DriftStatus.IN_SYNC


async def test_a_field_that_the_render_sets_and_another_manager_changed_is_drift_with_its_name(
    rig: Rig,
) -> None:
    manifest = rig.config_map(jam="plum")
    await rig.apply(manifest)
    await rig.edit(manifest, {"data": {"jam": "fig"}}, manager="kubectl-edit")
    (change,) = (await rig.compare(manifest)).changes
    assert change.owner is not None
    assert (change.owner.manager, change.owner.operation) == ("kubectl-edit", "Update")
    assert change.owner.time.endswith("Z")


async def test_replicas_that_an_autoscaler_sets_are_no_drift(rig: Rig) -> None:
    manifest = deployment(rig)
    await rig.apply(manifest)
    await rig.edit(manifest, {"spec": {"replicas": 4}}, manager="scaler", subresource="scale")
    assert (await rig.compare(manifest)).status is DriftStatus.IN_SYNC


async def test_replicas_of_the_render_that_somebody_scales_are_drift(rig: Rig) -> None:
    manifest = deployment(rig)
    manifest["spec"]["replicas"] = 2
    await rig.apply(manifest)
    await rig.edit(manifest, {"spec": {"replicas": 4}}, manager="scaler", subresource="scale")
    assert owners(await rig.compare(manifest)) == {"/spec/replicas": "scaler"}


async def test_a_container_that_somebody_injects_is_no_drift(rig: Rig) -> None:
    manifest = deployment(rig)
    await rig.apply(manifest)
    sidecar = {"name": "sidecar", "image": "fake.local/ready:1"}
    patch = [{"op": "add", "path": "/spec/template/spec/containers/0", "value": sidecar}]
    await rig.edit(manifest, patch, kind="json")
    assert (await rig.compare(manifest)).status is DriftStatus.IN_SYNC


async def test_a_field_behind_an_injected_container_is_pointed_at_in_the_live_object(rig: Rig) -> None:
    manifest = deployment(rig)
    await rig.apply(manifest)
    sidecar = {"name": "sidecar", "image": "fake.local/ready:1"}
    patch = [
        {"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "fake.local/other:1"},
        {"op": "add", "path": "/spec/template/spec/containers/0", "value": sidecar},
    ]
    await rig.edit(manifest, patch, kind="json")
    assert owners(await rig.compare(manifest)) == {"/spec/template/spec/containers/1/image": "hand"}


async def test_an_element_that_somebody_took_out_is_pointed_at_alone(rig: Rig) -> None:
    manifest = deployment(rig)
    await rig.apply(manifest)
    await rig.edit(
        manifest, [{"op": "remove", "path": "/spec/template/spec/containers/0/env/0"}], kind="json"
    )
    (change,) = (await rig.compare(manifest)).changes
    assert change.pointer == "/spec/template/spec/containers/0/env/0"
    assert change.desired == {"name": "TIDE", "value": "low"}


async def test_an_atomic_list_of_another_length_is_one_change_owned_by_who_wrote_it(rig: Rig) -> None:
    manifest = deployment(rig)
    await rig.apply(manifest)
    await rig.edit(
        manifest,
        [{"op": "add", "path": "/spec/template/spec/containers/0/args/-", "value": "c"}],
        kind="json",
    )
    assert owners(await rig.compare(manifest)) == {"/spec/template/spec/containers/0/args": "hand"}


async def test_another_order_of_a_keyed_list_is_drift(rig: Rig) -> None:
    manifest = deployment(rig)
    await rig.apply(manifest)
    env = list(reversed(manifest["spec"]["template"]["spec"]["containers"][0]["env"]))
    await rig.edit(
        manifest,
        [{"op": "replace", "path": "/spec/template/spec/containers/0/env", "value": env}],
        kind="json",
    )
    assert pointers(await rig.compare(manifest)) == ["/spec/template/spec/containers/0/env"]


async def test_subjects_that_somebody_adds_are_drift(rig: Rig) -> None:
    manifest: Manifest = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "cook", "namespace": rig.namespace},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
        "subjects": [{"kind": "ServiceAccount", "name": "cook", "namespace": rig.namespace}],
    }
    await rig.apply(manifest)
    guest = {"kind": "ServiceAccount", "name": "guest", "namespace": rig.namespace}
    await rig.edit(
        manifest, [{"op": "add", "path": "/subjects/-", "value": guest}], kind="json", manager="rights"
    )
    assert owners(await rig.compare(manifest)) == {"/subjects": "rights"}
