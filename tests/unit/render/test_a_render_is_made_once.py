"""D5: equal inputs give the remembered render; another input, or another word of the target, a new one."""

from __future__ import annotations

import shutil
from pathlib import Path
from unittest import mock

import pytest

from convoy.api.errors import Unsupported
from convoy.render import resolve
from convoy.render.drafts import read_objects
from tests.unit.render.rig import CONFIG_MAP, Rig

FOO = "apiVersion: example.org/v1\nkind: Foo\nmetadata: {name: a}\n"


@pytest.fixture
def reads() -> object:
    with mock.patch.object(resolve, "read_objects", side_effect=read_objects) as spy:
        yield spy


async def test_equal_inputs_are_read_once(rig: Rig, reads: mock.Mock) -> None:
    first = await rig.inline({"a.yaml": CONFIG_MAP % "a"})
    second = await rig.inline({"a.yaml": CONFIG_MAP % "a"})

    assert first == second
    assert reads.call_count == 1


async def test_also_after_a_restart(rig: Rig, reads: mock.Mock) -> None:
    first = await rig.inline({"a.yaml": CONFIG_MAP % "a"})
    second = await Rig(rig.folder).inline({"a.yaml": CONFIG_MAP % "a"})

    assert first == second
    assert reads.call_count == 1


async def test_other_files_and_other_content_are_read_again(rig: Rig) -> None:
    files = {"a.yaml": CONFIG_MAP % "a", "b.yaml": CONFIG_MAP % "b"}

    both = await rig.inline(files)
    one = await rig.inline(files, manifests={"exclude": ["b.yaml"]})
    renamed = await rig.inline({"c.yaml": CONFIG_MAP % "a"})

    assert len(both.objects) == 2
    assert both.ref != one.ref == renamed.ref
    assert renamed.revision != one.revision


async def test_a_kind_that_the_target_learnt_is_settled_anew(rig: Rig) -> None:
    before = await rig.inline({"a.yaml": FOO})
    rig.scope.kinds["example.org", "Foo"] = True
    after = await rig.inline({"a.yaml": FOO})

    assert str(before.objects[0]) == "Foo.example.org a"
    assert str(after.objects[0]) == "Foo.example.org default/a"


async def test_a_lost_working_folder_costs_a_new_render(rig: Rig) -> None:
    first = await rig.inline({"a.yaml": CONFIG_MAP % "a"})
    shutil.rmtree(rig.folder / "renders")
    again = Rig(rig.folder)

    assert await again.inline({"a.yaml": CONFIG_MAP % "a"}) == first


async def test_each_step_can_load_it_by_its_ref(rig: Rig) -> None:
    render = await rig.inline({"a.yaml": CONFIG_MAP % "a"})

    assert await Rig(rig.folder).renders.load("11111111-2222", render.ref) == render


async def test_a_failure_is_not_remembered(rig: Rig) -> None:
    with pytest.raises(Unsupported):
        await rig.inline({"a.yaml": ""})

    assert (await rig.inline({"a.yaml": ""}, manifests={}, allowEmpty=True)).objects == ()


async def test_nothing_of_an_inline_source_lies_readable_on_the_disk(rig: Rig) -> None:
    text = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {k: quince-left}\n"
    await rig.inline({"a.yaml": text})

    files = [path for path in rig.folder.rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert b"quince" not in path.read_bytes()
        assert path.stat().st_mode & 0o077 == 0, path


async def test_a_revision_is_recognised_by_people(rig: Rig, tmp_path: Path) -> None:
    assert (await rig.inline({"a.yaml": CONFIG_MAP % "a"})).revision.startswith("inline@sha256:")
