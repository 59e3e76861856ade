"""D6: hooks are no part of the render; tests are dropped, those of a sync refused by name until convoy runs them."""

from __future__ import annotations

import pytest

from convoy.api.errors import Unsupported
from convoy.render.chart_hooks import without_hooks
from convoy.render.drafts import Draft, read_objects
from convoy.render.objects import File
from tests.unit.render.charts import chart, helm
from tests.unit.render.rig import Rig, needs_program


def hook(events: str, name: str = "h") -> str:
    return (
        f"apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, annotations: {{helm.sh/hook: '{events}'}}}}\n"
    )


def read(*texts: str) -> tuple[Draft, ...]:
    return read_objects([File("a.yaml", "---\n".join(texts).encode())])


@pytest.mark.parametrize("events", ["test", "test-success", "test,test-failure"])
def test_tests_are_dropped(events: str) -> None:
    assert without_hooks(read(hook(events))) == ((), ())


@pytest.mark.parametrize("events", ["pre-delete", "post-rollback", "crd-install"])
def test_what_convoy_never_runs_is_left_out_with_a_warning(events: str) -> None:
    kept, warnings = without_hooks(read(hook(events), "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"))

    assert [draft.manifest["metadata"]["name"] for draft in kept] == ["a"]
    assert warnings == (
        f"the chart's hook Pod h ({events}) is left out: convoy never runs hooks of this kind",
    )


@pytest.mark.parametrize("events", ["pre-install", "post-install,post-upgrade", "pre-upgrade, pre-delete"])
def test_hooks_of_a_sync_are_refused_by_name(events: str) -> None:
    with pytest.raises(Unsupported) as caught:
        without_hooks(read(hook(events), hook("post-install", "other")))

    assert "2 hooks: Pod h (" in caught.value.message
    assert "Pod other (post-install)" in caught.value.message


async def test_a_chart_with_a_test_renders_without_it(rig: Rig) -> None:
    needs_program("helm")

    render = await helm(rig, chart("  a: b\n", **{"templates/tests/t.yaml": hook("test")}))

    assert [str(item) for item in render.objects] == ["ConfigMap default/cm0"]
