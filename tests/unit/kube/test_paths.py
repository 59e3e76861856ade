"""The URL path of an object, whatever its name holds."""

from __future__ import annotations

import pytest

from convoy.kube.resources import CONFIG_MAPS, CRDS, NAMESPACES, Resource

ROLES = Resource("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", False)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (CONFIG_MAPS.path("demo", "it"), "/api/v1/namespaces/demo/configmaps/it"),
        (CONFIG_MAPS.path("demo"), "/api/v1/namespaces/demo/configmaps"),
        (CONFIG_MAPS.path(), "/api/v1/configmaps"),
        (NAMESPACES.path(None, "demo", "status"), "/api/v1/namespaces/demo/status"),
        (CRDS.path("ignored", "a.b"), "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/a.b"),
        (ROLES.path(None, "system:x"), "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:x"),
        (
            ROLES.path(None, "a/../b?c#d"),
            "/apis/rbac.authorization.k8s.io/v1/clusterroles/a%2F..%2Fb%3Fc%23d",
        ),
        (ROLES.path(None, ".."), "/apis/rbac.authorization.k8s.io/v1/clusterroles/%2E%2E"),
    ],
)
def test_a_path_means_the_object_and_nothing_else(path: str, expected: str) -> None:
    assert path == expected


def test_a_namespaced_object_without_a_namespace_has_no_path() -> None:
    with pytest.raises(ValueError, match="ConfigMap it needs a namespace"):
        CONFIG_MAPS.path("", "it")
