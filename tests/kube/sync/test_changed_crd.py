"""A render that changes a CRD and uses the change: the upgrade of every operator (D8).

The server would judge the custom resource by the schema that is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from convoy.api.errors import Unappliable
from convoy.api.objects import Manifest
from convoy.api.release import Release
from convoy.sync.dryrun import DryRun, dry_run
from tests.kube.sync.rig import Rig, key, render_of

CUPS = {"cups": {"type": "integer"}}
LID = {"lid": {"type": "string"}}


def crd(rig: Rig, properties: Mapping[str, Any], *, wave: int = 0) -> Manifest:
    return rig.crd("Teapot", properties=properties, wave=wave)


async def installed(rig: Rig) -> Release:
    """Install a CRD with a teapot of four cups."""
    release = await rig.release()
    await rig.sync(release, render_of(crd(rig, CUPS), rig.custom("Teapot", "round", cups=4)))
    return release


async def checked(rig: Rig, *manifests: Manifest) -> DryRun:
    return await dry_run(rig.target, render_of(*manifests))


@pytest.mark.parametrize("wave", [0, -1], ids=["in one wave", "in two waves"])
async def test_a_new_field_of_a_crd_and_its_first_use_in_one_render(rig: Rig, wave: int) -> None:
    release = await installed(rig)
    pot = rig.custom("Teapot", "round", cups=4, lid="blue")
    await rig.sync(release, render_of(crd(rig, CUPS | LID, wave=wave), pot))
    live = await rig.get(pot)
    assert live is not None
    assert live["spec"] == {"cups": 4, "lid": "blue"}


async def test_what_the_new_schema_does_not_know_is_rejected(rig: Rig) -> None:
    await installed(rig)
    bad = rig.custom("Teapot", "round", cups=4, led="blue")
    [rejected] = (await checked(rig, crd(rig, CUPS | LID), bad)).rejected
    assert "led" in rejected.message


async def test_what_only_the_old_schema_takes_is_rejected(rig: Rig) -> None:
    await installed(rig)
    stricter = crd(rig, {"cups": {"type": "integer", "maximum": 3}})
    [rejected] = (await checked(rig, stricter, rig.custom("Teapot", "round", cups=4))).rejected
    assert rejected.message == "spec.cups: 4 is greater than the maximum of 3"


async def test_the_server_has_the_word_where_the_crd_stays(rig: Rig) -> None:
    await installed(rig)
    bad = rig.custom("Teapot", "round", cups=4, lid="blue")
    result = await checked(rig, crd(rig, CUPS), bad)
    assert [each.key.name for each in result.rejected] == ["round"]
    assert "lid" in result.rejected[0].message


async def test_what_is_there_is_seen_all_the_same(rig: Rig) -> None:
    await installed(rig)
    pot = rig.custom("Teapot", "round", cups=4, lid="blue")
    result = await checked(rig, crd(rig, CUPS | LID), pot, rig.custom("Teapot", "square", lid="red"))
    assert result.rejected == ()
    seen = result.seen[key("Teapot", "round", namespace=rig.namespace, group=rig.group)]
    assert seen.uid == await rig.uid(pot)
    assert [each.key.name for each in result.skipped] == ["square"]


async def test_a_version_that_comes_with_the_render_sees_what_is_there(rig: Rig) -> None:
    await installed(rig)
    newer = crd(rig, CUPS)
    versions: list[dict[str, Any]] = newer["spec"]["versions"]
    versions.append({**versions[0], "name": "v2", "storage": False})
    pot = rig.custom("Teapot", "round", cups=4) | {"apiVersion": f"{rig.group}/v2"}
    result = await checked(rig, newer, pot)
    uid = await rig.uid(rig.custom("Teapot", "round"))
    assert [seen.uid for which, seen in result.seen.items() if which.kind == "Teapot"] == [uid]


async def test_nothing_is_applied_where_the_new_schema_refuses(rig: Rig) -> None:
    release = await installed(rig)
    bad = rig.custom("Teapot", "round", cups="four")
    with pytest.raises(Unappliable, match=r"round: spec\.cups"):
        await rig.sync(release, render_of(crd(rig, CUPS | LID), bad))
    live = await rig.get(crd(rig, CUPS))
    assert live is not None
    assert "lid" not in str(live["spec"])
