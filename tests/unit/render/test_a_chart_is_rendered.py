"""Content `helm`: names, values, CRDs, capabilities of the target, and no random value twice (D5)."""

from __future__ import annotations

import pytest

from convoy.api.errors import Unsupported
from convoy.render.objects import Capabilities
from tests.unit.render.charts import chart, data_of, helm
from tests.unit.render.rig import Rig, needs_program

CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: foos.example.org}
spec: {group: example.org, scope: Namespaced, names: {kind: Foo, plural: foos}}
"""


@pytest.fixture(autouse=True)
def helm_is_here() -> None:
    needs_program("helm")


async def test_names_are_those_of_the_release_unless_told(rig: Rig) -> None:
    body = "  v: {{ .Release.Name }}/{{ .Release.Namespace }}/{{ .Release.Service }}/{{ .Chart.Version }}\n"

    assert await data_of(rig, body) == {"v": "shop/default/Helm/1.2.3"}
    assert await data_of(rig, body, releaseName="pod", namespace="demo") == {"v": "pod/demo/Helm/1.2.3"}


async def test_objects_without_a_namespace_go_to_that_of_the_chart(rig: Rig) -> None:
    assert str((await helm(rig, chart("  a: b\n"), namespace="demo")).objects[0]) == "ConfigMap demo/cm0"
    assert str((await helm(rig, chart("  a: b\n"))).objects[0]) == "ConfigMap default/cm0"


async def test_values_override_those_of_the_chart_and_null_takes_one_away(rig: Rig) -> None:
    files = chart("  v: {{ .Values | toJson | quote }}\n", **{"values.yaml": "a: 1\nb: {c: 2, d: 3}\n"})

    render = await helm(rig, files, values={"a": None, "b": {"c": "x"}})

    assert render.objects[0].manifest["data"]["v"] == '{"b":{"c":"x","d":3}}'


async def test_crds_come_first_and_can_be_left_out(rig: Rig) -> None:
    files = chart("  a: b\n", **{"crds/foo.yaml": CRD})
    files["templates/a-foo.yaml"] = "apiVersion: example.org/v1\nkind: Foo\nmetadata: {name: f}\n"

    both = await helm(rig, files, namespace="demo")
    without = await helm(rig, files, includeCRDs=False)

    assert [str(item) for item in both.objects] == [
        "CustomResourceDefinition.apiextensions.k8s.io foos.example.org",
        "ConfigMap demo/cm0",
        "Foo.example.org demo/f",
    ]
    assert "CustomResourceDefinition" not in [item.key.kind for item in without.objects]


async def test_the_chart_sees_the_version_and_the_apis_of_the_target(rig: Rig) -> None:
    body = (
        "  v: {{ .Capabilities.KubeVersion.Version }}\n"
        '  has: {{ .Capabilities.APIVersions.Has "example.org/v1/Foo" | quote }}\n'
    )
    assert await data_of(rig, body) == {"v": "v1.34.4", "has": "false"}

    rig.scope.served = Capabilities("v1.30.1-gke.5", ("example.org/v1", "example.org/v1/Foo"))
    assert await data_of(rig, body) == {"v": "v1.30.1-gke.5", "has": "true"}


async def test_a_chart_for_another_version_is_refused(rig: Rig) -> None:
    files = chart("  a: b\n") | {
        "Chart.yaml": "apiVersion: v2\nname: a\nversion: 1.0.0\nkubeVersion: '<1.20'\n"
    }

    with pytest.raises(Unsupported, match=r"chart requires kubeVersion: <1\.20"):
        await helm(rig, files)


async def test_lookup_finds_nothing(rig: Rig) -> None:
    assert await data_of(rig, '  v: {{ lookup "v1" "Secret" "" "" | toJson | quote }}\n') == {"v": "{}"}


async def test_equal_inputs_give_the_remembered_random_value(rig: Rig) -> None:
    body = "  v: {{ randAlphaNum 16 }}\n"

    first, second = await data_of(rig, body), await data_of(rig, body)
    after_a_restart = await data_of(Rig(rig.folder), body)
    other = await data_of(rig, body, values={"x": 1})

    assert first == second == after_a_restart
    assert other != first


async def test_a_template_that_fails_is_named(rig: Rig) -> None:
    with pytest.raises(Unsupported) as caught:
        await data_of(rig, '  v: {{ required "set .Values.host" .Values.host }}\n')

    assert "shop/templates/cm0.yaml" in caught.value.message
    assert "set .Values.host" in caught.value.message
    assert str(rig.folder) not in caught.value.message


async def test_a_values_schema_is_checked(rig: Rig) -> None:
    schema = (
        '{"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"a": {"type": "integer"}}}'
    )

    with pytest.raises(Unsupported, match="got string, want integer"):
        await helm(rig, chart("  a: b\n", **{"values.schema.json": schema}), values={"a": "x"})


async def test_no_chart_there(rig: Rig) -> None:
    with pytest.raises(Unsupported, match=r"has no Chart\.yaml"):
        await helm(rig, {"a.yaml": ""})


async def test_a_dependency_that_is_not_vendored_is_named(rig: Rig) -> None:
    text = "apiVersion: v2\nname: a\nversion: 1.0.0\ndependencies: [{name: redis, version: 1.x, repository: 'https://e.org'}]\n"

    with pytest.raises(Unsupported, match=r"missing in charts/ directory: redis"):
        await helm(rig, chart("  a: b\n") | {"Chart.yaml": text})


@pytest.mark.parametrize("name", ["--post-renderer=x", "a b", "Shop"])
async def test_a_name_that_is_none_is_refused(rig: Rig, name: str) -> None:
    with pytest.raises(Unsupported, match=r"spec\.content\.helm\.releaseName"):
        await helm(rig, chart("  a: b\n"), releaseName=name)
