"""What the cluster cannot judge yet is skipped, and checked locally where the render has the CRD (D8, D9)."""

from __future__ import annotations

from convoy.api.objects import Manifest
from convoy.sync.dryrun import DryRun, dry_run
from tests.kube.sync.rig import Rig, render_of


async def checked(rig: Rig, *manifests: Manifest) -> DryRun:
    return await dry_run(rig.target, render_of(*manifests))


async def test_a_kind_that_nobody_knows_is_skipped(rig: Rig) -> None:
    result = await checked(rig, rig.custom("Unicorn", "white", horns=1), rig.config_map())
    assert result.rejected == ()
    [skipped] = result.skipped
    assert skipped.key.kind == "Unicorn"
    assert f"Unicorn.{rig.group}" in skipped.reason


async def test_a_good_custom_resource_passes_before_its_crd_is_there(rig: Rig) -> None:
    crd = rig.crd("Teapot", properties={"cups": {"type": "integer", "maximum": 8}})
    result = await checked(rig, rig.custom("Teapot", "round", cups=4), crd)
    assert result.rejected == ()
    assert [each.key.kind for each in result.skipped] == ["Teapot"]


async def test_a_bad_custom_resource_is_rejected_before_its_crd_is_there(rig: Rig) -> None:
    crd = rig.crd("Teapot", properties={"cups": {"type": "integer", "maximum": 8}})
    result = await checked(rig, crd, rig.custom("Teapot", "round", cups=9))
    [rejected] = result.rejected
    assert rejected.key.name == "round"
    assert "spec.cups" in rejected.message


async def test_an_object_of_a_namespace_in_the_same_render_passes(rig: Rig) -> None:
    name = f"{rig.namespace}-attic"
    box = rig.config_map()
    box["metadata"]["namespace"] = name
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    result = await checked(rig, box, namespace)
    assert result.rejected == ()
    assert [each.key.name for each in result.skipped] == ["box"]
