"""valuesFrom: in its order, below `values`; what is missing is `ValuesNotReady` unless it may be."""

from __future__ import annotations

import json
from typing import Any

import pytest

from convoy.api.errors import Unsupported, ValuesNotReady
from convoy.api.rendered import Render
from tests.kube.render.conftest import Keep, Rendering
from tests.unit.render.charts import chart

FILES = chart("  v: {{ .Values | toJson | quote }}\n", **{"values.yaml": "a: chart\nb: chart\n"})


def values(render: Render) -> Any:
    return json.loads(render.objects[0].manifest["data"]["v"])


async def test_later_ones_override_and_values_go_last(rendering: Rendering, keep: Keep) -> None:
    await keep("ConfigMap", "one", {"values.yaml": "a: one\nb: one\nc: {x: 1, z: 1}\n"})
    await keep("Secret", "two", {"more.yaml": "b: two\nc: {z: 2}\nd: two\n"})

    sources = [{"configMapRef": {"name": "one"}}, {"secretRef": {"name": "two"}, "key": "more.yaml"}]
    render = await rendering(FILES, valuesFrom=sources, values={"d": "own"})
    turned = await rendering(FILES, valuesFrom=sources[::-1])

    assert values(render) == {"a": "one", "b": "two", "c": {"x": 1, "z": 2}, "d": "own"}
    assert values(turned) == {"a": "one", "b": "one", "c": {"x": 1, "z": 1}, "d": "two"}


@pytest.mark.parametrize("kind", ["ConfigMap", "Secret"])
async def test_what_is_missing_is_named(rendering: Rendering, keep: Keep, namespace: str, kind: str) -> None:
    field = "configMapRef" if kind == "ConfigMap" else "secretRef"
    await keep(kind, "here", {"other": "a: 1"})

    with pytest.raises(ValuesNotReady) as caught:
        await rendering(FILES, valuesFrom=[{field: {"name": "gone"}}])
    assert caught.value.message == f"spec.content.helm.valuesFrom[0]: {kind} {namespace}/gone is missing"

    with pytest.raises(ValuesNotReady, match=r"here has no key values\.yaml"):
        await rendering(FILES, valuesFrom=[{field: {"name": "here"}}])


async def test_what_is_optional_may_be_missing(rendering: Rendering, keep: Keep) -> None:
    await keep("ConfigMap", "here", {"other": "a: 1"})
    sources = [
        {"configMapRef": {"name": "gone"}, "optional": True},
        {"configMapRef": {"name": "here"}, "optional": True},
        {"secretRef": {"name": "gone"}, "optional": True},
    ]

    assert values(await rendering(FILES, valuesFrom=sources)) == {"a": "chart", "b": "chart"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a\n", "values are one mapping"),
        ("a: hunter2\nb: [", "document 1, line 2"),
        ("a: 1\n---\nb: 1\n", "values are one mapping"),
    ],
)
async def test_values_that_are_none_are_named_and_not_quoted(
    rendering: Rendering, keep: Keep, text: str, message: str
) -> None:
    await keep("Secret", "bad", {"values.yaml": text})

    with pytest.raises(ValuesNotReady, match=message) as caught:
        await rendering(FILES, valuesFrom=[{"secretRef": {"name": "bad"}}])

    assert "hunter2" not in caught.value.message


async def test_aliases_that_write_out_to_too_much_are_refused(rendering: Rendering, keep: Keep) -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for level in range(1, 9):
        bomb += f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]\n"
    await keep("ConfigMap", "bomb", {"values.yaml": bomb})

    with pytest.raises(ValuesNotReady, match="aliases write out to too much"):
        await rendering(FILES, valuesFrom=[{"configMapRef": {"name": "bomb"}}])


async def test_a_failing_template_quotes_no_value_of_a_secret(rendering: Rendering, keep: Keep) -> None:
    await keep("Secret", "pw", {"values.yaml": "pw: hunter2secret\n"})
    files = chart('  v: {{ fail (printf "it is %s and %s" .Values.pw (b64enc .Values.pw)) }}\n')

    with pytest.raises(Unsupported) as caught:
        await rendering(files, valuesFrom=[{"secretRef": {"name": "pw"}}])

    assert "it is *** and ***" in caught.value.message


async def test_a_changed_value_is_another_render(rendering: Rendering, keep: Keep) -> None:
    await keep("ConfigMap", "one", {"a": "a: one\n", "b": "a: two\n"})

    first = await rendering(FILES, valuesFrom=[{"configMapRef": {"name": "one"}, "key": "a"}])
    second = await rendering(FILES, valuesFrom=[{"configMapRef": {"name": "one"}, "key": "b"}])

    assert (values(first)["a"], values(second)["a"]) == ("one", "two")


async def test_the_target_is_asked_for_what_it_serves(rendering: Rendering) -> None:
    body = (
        "  version: {{ .Capabilities.KubeVersion.Version }}\n"
        '  has: {{ .Capabilities.APIVersions.Has "apps/v1/Deployment" | quote }}\n'
        '  lacks: {{ .Capabilities.APIVersions.Has "nowhere.example.org/v1" | quote }}\n'
    )
    data = (await rendering(chart(body))).objects[0].manifest["data"]

    assert data["version"].startswith("v1.")
    assert (data["has"], data["lacks"]) == ("true", "false")
