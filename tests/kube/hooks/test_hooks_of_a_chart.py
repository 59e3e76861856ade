"""D6: what a chart's hook Jobs need is applied before them, and goes where the chart says so."""

from __future__ import annotations

from typing import Any

from convoy.api.objects import Manifest
from convoy.kube.errors import NotFound
from convoy.kube.resources import CONFIG_MAPS
from tests.kube.hooks.rig import B, HookRig, job, render_of
from tests.unit.hooks.making import chart_hook

EVENTS = "pre-install,pre-upgrade"


def placed(rig: HookRig, hook: Manifest, **more: Any) -> Manifest:
    return {**hook, "metadata": {**hook["metadata"], "namespace": rig.namespace}, **more}


def config(rig: HookRig, name: str, **more: Any) -> Manifest:
    return placed(rig, chart_hook("ConfigMap", name, EVENTS, weight="-5", api="v1", **more), data={"a": "1"})


async def is_there(rig: HookRig, name: str) -> bool:
    try:
        await rig.client.get(CONFIG_MAPS, rig.namespace, name)
    except NotFound:
        return False
    return True


async def test_objects_are_applied_before_the_jobs_of_their_weight(rig: HookRig) -> None:
    await rig.release()
    render = render_of(
        placed(rig, chart_hook("Job", "create", EVENTS, weight="-5"), spec=job()),
        config(rig, "kept"),
        config(rig, "passing", policy="before-hook-creation,hook-succeeded"),
    )

    standing = await rig.advance(render=render)

    assert [wait.partition(": ")[0] for wait in standing.waits] == [f"hook chart-pre/{rig.namespace}/create"]
    assert await is_there(rig, "passing")
    assert (await rig.entry("chart-pre/objects/-5")).message == "applied 2 objects"

    assert (await rig.finish(render=render)).failures == ()
    assert await is_there(rig, "kept")
    assert await rig.due(render=render) == ()


async def test_what_goes_with_success_goes_and_the_releases_own_objects_stay(rig: HookRig) -> None:
    await rig.release()
    passing, own = (config(rig, name, policy="hook-succeeded") for name in ("passing", "own"))

    await rig.finish(render=render_of(passing, own, objects=[own]))

    assert not await is_there(rig, "passing")
    assert await is_there(rig, "own")


async def test_an_object_that_the_target_refuses_fails_the_stage(rig: HookRig) -> None:
    await rig.release()
    bad = placed(rig, chart_hook("ConfigMap", "bad", EVENTS, api="v1"), data={"a": {"b": "c"}})

    (failure,) = (await rig.finish(render=render_of(bad, ref=B))).failures

    assert failure.startswith(f"hook chart-pre/objects/0: ConfigMap {rig.namespace}/bad: ")
    assert ".data.a" in failure
