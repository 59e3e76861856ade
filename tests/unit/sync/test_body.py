"""What is sent for an object (D3, D11, D36)."""

from __future__ import annotations

from typing import Any

import pytest

from convoy.api.objects import ObjectKey
from convoy.api.release import IgnoreDifferences
from convoy.kube.encode import decode
from convoy.sync.body import build, desired
from convoy.sync.ignored import ignored_paths, live_path


def deployment(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}


def test_status_is_never_sent() -> None:
    assert "status" not in desired({**deployment(), "status": {"replicas": 1}})


def test_rules_of_an_aggregated_role_are_never_sent() -> None:
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "all"},
        "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]},
        "rules": [],
    }
    assert "rules" not in desired(role)
    assert "rules" in desired({**role, "aggregationRule": None})
    assert "rules" in desired({**role, "kind": "Role"})


@pytest.mark.parametrize(
    "field",
    ["uid", "resourceVersion", "managedFields", "generation", "creationTimestamp", "deletionTimestamp"],
)
def test_what_the_server_owns_is_not_sent(field: str) -> None:
    manifest = deployment()
    manifest["metadata"][field] = "copied from a live object"
    assert desired(manifest)["metadata"] == {"name": "web"}


def test_an_update_carries_the_uid_and_nothing_else_differs() -> None:
    manifest = deployment(replicas=3)
    with_uid = decode(build(manifest, uid="u1"))
    assert with_uid["metadata"].pop("uid") == "u1"
    assert with_uid == decode(build(manifest))


def test_the_manifest_is_not_changed() -> None:
    manifest = deployment(replicas=3)
    desired(manifest, uid="u1", live=deployment(replicas=5), ignored=["/spec/replicas"])
    assert manifest == deployment(replicas=3)


def test_an_ignored_field_is_sent_with_the_live_value() -> None:
    body = desired(deployment(replicas=3), live=deployment(replicas=5), ignored=["/spec/replicas"])
    assert body["spec"] == {"replicas": 5}


def test_a_new_object_has_the_renders_value() -> None:
    assert desired(deployment(replicas=3), ignored=["/spec/replicas"])["spec"] == {"replicas": 3}


def test_an_ignored_field_that_the_render_does_not_set_is_not_taken_over() -> None:
    assert desired(deployment(), live=deployment(replicas=5), ignored=["/spec/replicas"])["spec"] == {}


def test_an_ignored_field_that_the_render_has_dropped_and_convoy_owns_keeps_its_live_value() -> None:
    owned: dict[str, Any] = {"f:spec": {"f:replicas": {}, "f:strategy": {"f:type": {}}}}
    live = deployment(replicas=5, strategy={"type": "Recreate"})
    live["metadata"]["managedFields"] = [{"manager": "convoy", "operation": "Apply", "fieldsV1": owned}]
    body = desired(deployment(), live=live, ignored=["/spec/replicas", "/spec/strategy/type", "/spec/paused"])
    assert body["spec"] == {"replicas": 5, "strategy": {"type": "Recreate"}}


def test_an_ignored_field_that_is_not_live_is_not_sent() -> None:
    assert desired(deployment(replicas=3), live=deployment(), ignored=["/spec/replicas"])["spec"] == {}


def test_a_path_with_escapes_names_one_key() -> None:
    ours = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "annotations": {"a/b~c": "1"}}}
    live = {"metadata": {"annotations": {"a/b~c": "2"}}}
    body = desired(ours, live=live, ignored=["/metadata/annotations/a~1b~0c"])
    assert body["metadata"]["annotations"] == {"a/b~c": "2"}


def test_elements_of_a_list_are_matched_by_name() -> None:
    ours = deployment(containers=[{"name": "web", "image": "new"}])
    live = deployment(containers=[{"name": "sidecar", "image": "s"}, {"name": "web", "image": "old"}])
    body = desired(ours, live=live, ignored=["/spec/containers/0/image"])
    assert body["spec"]["containers"] == [{"name": "web", "image": "old"}]


def test_the_index_of_an_ignored_path_is_the_renders() -> None:
    ours = deployment(containers=[{"name": "a"}, {"name": "b"}])
    live = deployment(containers=[{"name": "injected"}, {"name": "a"}, {"name": "b"}])
    assert live_path("/spec/containers/1/image", ours, live) == ("spec", "containers", 2, "image")
    assert live_path("/spec/containers/2/image", ours, live) is None


def test_a_new_element_of_a_list_has_the_renders_values() -> None:
    ours = deployment(containers=[{"name": "new", "image": "n"}])
    live = deployment(containers=[{"name": "web", "image": "old"}])
    body = desired(ours, live=live, ignored=["/spec/containers/0/image"])
    assert body["spec"]["containers"] == [{"name": "new", "image": "n"}]


@pytest.mark.parametrize(
    "pointer", ["/spec/replicas/deep", "/spec/containers/x", "/spec/containers/7/image", "/no"]
)
def test_a_path_that_leads_nowhere_changes_nothing(pointer: str) -> None:
    ours = deployment(replicas=3, containers=[{"name": "web"}])
    assert desired(ours, live=deployment(replicas=5), ignored=[pointer]) == desired(ours)


def test_ignored_paths_are_those_of_the_group_kind_and_name() -> None:
    ignore = [
        IgnoreDifferences(group="apps", kind="Deployment", name="web-*", paths=("/spec/replicas",)),
        IgnoreDifferences(group="", kind="Deployment", paths=("/spec/other",)),
    ]
    assert ignored_paths(ObjectKey("apps", "Deployment", "demo", "web-1"), ignore) == ("/spec/replicas",)
    assert ignored_paths(ObjectKey("apps", "Deployment", "demo", "db"), ignore) == ()
