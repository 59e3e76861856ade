"""D6: hooks of a chart are told from its objects; tests are dropped, those of a sync are a part of the render."""

from __future__ import annotations

import pytest

from convoy.api.errors import Unsupported
from convoy.api.hooks import HookStage
from convoy.api.rendered import Render
from convoy.render.chart_hooks import ChartParts, runs_in, take_apart, weight_of
from convoy.render.drafts import Draft, read_objects
from convoy.render.objects import File
from tests.unit.render.charts import chart, helm
from tests.unit.render.rig import Rig, needs_program


def hook(events: str, name: str = "h", *, kind: str = "Job", api: str = "batch/v1", more: str = "") -> str:
    annotations = f"{{helm.sh/hook: '{events}'{more}}}"
    return f"apiVersion: {api}\nkind: {kind}\nmetadata: {{name: {name}, annotations: {annotations}}}\n"


def read(*texts: str) -> tuple[Draft, ...]:
    return read_objects([File("a.yaml", "---\n".join(texts).encode())])


def names(drafts: tuple[Draft, ...]) -> list[str]:
    return [draft.manifest["metadata"]["name"] for draft in drafts]


@pytest.mark.parametrize("events", ["test", "test-success", "test,test-failure"])
def test_tests_are_dropped(events: str) -> None:
    assert take_apart(read(hook(events, kind="Pod", api="v1"))) == ChartParts((), (), ())


@pytest.mark.parametrize("events", ["pre-delete", "post-rollback", "crd-install"])
def test_what_convoy_never_runs_is_left_out_with_a_warning(events: str) -> None:
    parts = take_apart(read(hook(events), "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"))

    assert names(parts.objects) == ["a"]
    assert parts.hooks == ()
    assert parts.warnings == (
        f"the chart's hook Job.batch h ({events}) is left out: convoy never runs hooks of this kind",
    )


@pytest.mark.parametrize(
    "events", ["pre-install", "post-install,post-upgrade", "pre-upgrade, pre-delete,test"]
)
def test_hooks_of_a_sync_are_set_apart(events: str) -> None:
    parts = take_apart(read(hook(events), hook("post-install", "account", kind="ServiceAccount", api="v1")))

    assert parts.objects == ()
    assert names(parts.hooks) == ["h", "account"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (hook("pre-install", kind="Pod", api="v1"), "is a Pod; of what has to end convoy runs Jobs only"),
        (hook("pre-install", more=", helm.sh/hook-weight: first"), "helm.sh/hook-weight must be an integer"),
        (
            hook("pre-install", more=", helm.sh/hook-delete-policy: always"),
            "helm.sh/hook-delete-policy has always",
        ),
    ],
)
def test_what_cannot_be_followed_is_refused_by_name(text: str, told: str) -> None:
    with pytest.raises(Unsupported) as caught:
        take_apart(read(text))

    assert told in caught.value.message
    assert "a.yaml, document 1, line 1" in caught.value.message


def test_stage_and_weight_are_read_from_the_annotations() -> None:
    (draft,) = read(hook("Post-Upgrade", more=", helm.sh/hook-weight: '-5'"))

    assert weight_of(draft.manifest) == -5
    assert runs_in(draft.manifest, HookStage.POST_SYNC, install=False)
    assert not runs_in(draft.manifest, HookStage.POST_SYNC, install=True)
    assert not runs_in(draft.manifest, HookStage.PRE_SYNC, install=False)


async def test_a_chart_with_a_test_renders_without_it(rig: Rig) -> None:
    needs_program("helm")

    render = await helm(rig, chart("  a: b\n", **{"templates/tests/t.yaml": hook("test")}))

    assert [str(item) for item in render.objects] == ["ConfigMap default/cm0"]
    assert render.hooks == ()


async def test_hooks_are_a_part_of_the_render_that_its_ref_and_its_stored_form_hold(rig: Rig) -> None:
    needs_program("helm")
    rig.scope.kinds[("batch", "Job")] = True

    plain = await helm(rig, chart("  a: b\n"))
    hooked = await helm(rig, chart("  a: b\n", **{"templates/h.yaml": hook("pre-install")}), namespace="web")
    changed = await helm(rig, chart("  a: b\n", **{"templates/h.yaml": hook("pre-upgrade")}), namespace="web")

    assert [str(item) for item in hooked.hooks] == ["Job.batch web/h"]
    assert len({plain.ref, hooked.ref, changed.ref}) == 3
    stored = Render.decode(hooked.encode())
    assert (stored.objects, stored.hooks) == (hooked.objects, hooked.hooks)


async def test_a_render_without_hooks_is_stored_as_it_was_before_there_were_any(rig: Rig) -> None:
    render = await rig.inline({"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"})

    assert b"hooks" not in render.encode()
    assert Render.decode(render.encode()).hooks == ()


async def test_mutations_reach_the_hooks_too(rig: Rig) -> None:
    needs_program("helm")
    rig.scope.kinds[("batch", "Job")] = True
    files = chart("  a: b\n", **{"templates/h.yaml": hook("pre-install")})
    label = {"target": {"kind": "Job"}, "merge": {"metadata": {"labels": {"from": "mutation"}}}}

    render = await rig.render({"inline": {"files": files}}, {"helm": {}}, [label])

    assert render.hooks[0].manifest["metadata"]["labels"] == {"from": "mutation"}
    assert render.warnings == ()
