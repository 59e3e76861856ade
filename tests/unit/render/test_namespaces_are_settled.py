"""D2: a namespaced object without a namespace goes to default, a cluster-scoped object loses its own."""

from __future__ import annotations

from tests.unit.render.reading import objects

CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: jars.example.org}
spec: {group: example.org, scope: %s, names: {kind: Jar, plural: jars}}
---
apiVersion: example.org/v1
kind: Jar
metadata: {name: blue%s}
"""


def test_a_namespaced_object_without_one_goes_to_default() -> None:
    (found,) = objects(a="apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")

    assert found.key.namespace == found.manifest["metadata"]["namespace"] == "default"


def test_an_empty_namespace_is_none() -> None:
    (found,) = objects(a='apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: ""}\n')

    assert found.key.namespace == "default"


def test_a_cluster_scoped_object_loses_it() -> None:
    (found,) = objects(a="apiVersion: v1\nkind: Namespace\nmetadata: {name: a, namespace: b}\n")

    assert str(found) == "Namespace a"
    assert "namespace" not in found.manifest["metadata"]


def test_a_crd_of_the_same_render_tells_the_scope() -> None:
    assert str(objects(a=CRD % ("Namespaced", ""))[1]) == "Jar.example.org default/blue"
    assert str(objects(a=CRD % ("Cluster", ", namespace: x"))[1]) == "Jar.example.org blue"


def test_an_object_of_a_kind_that_nobody_knows_stays_as_written() -> None:
    text = "apiVersion: nowhere.org/v1\nkind: Foo\nmetadata: {name: a%s}\n"

    assert str(objects(a=text % "")[0]) == "Foo.nowhere.org a"
    assert str(objects(a=text % ", namespace: b")[0]) == "Foo.nowhere.org b/a"
