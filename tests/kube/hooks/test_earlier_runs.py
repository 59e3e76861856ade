"""D27: what becomes of the Jobs of earlier runs, of hooks that are gone, and of a Release that goes."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from convoy.api.names import HOOK_FINALIZER
from convoy.hooks.jobs import find_job
from convoy.hooks.leftovers import as_ended, end_jobs, strays, superseded
from convoy.sync.interruptions import Fenced
from tests.kube.hooks.rig import A, B, HookRig, job, render_of
from tests.waiting import eventually

HANGS, FAILS = "fake.local/job-hangs:1", "fake.local/job-fails:1"


async def names(rig: HookRig) -> list[str]:
    """Return the runs whose Jobs are there and not being deleted."""
    return sorted(
        each["metadata"]["annotations"]["convoy.kumodo.io/hook-run"]
        for each in await rig.jobs()
        if "deletionTimestamp" not in each["metadata"]
    )


async def until(rig: HookRig, wanted: list[str]) -> None:
    async def as_wanted() -> bool:
        return await names(rig) == wanted

    await eventually(as_wanted, f"the Jobs of the runs {wanted}")


async def replaced(rig: HookRig, ref: str) -> None:
    """Go on until the run for another render has been ended and one for this render has a Job."""

    async def has_begun() -> bool:
        return bool((await rig.advance(render=render_of(ref=ref))).jobs)

    await eventually(has_begun)


@pytest.mark.parametrize(
    ("policy", "image", "after", "later"),
    [
        ("BeforeCreation", "fake.local/ready:1", ["1"], ["2"]),
        ("BeforeCreation", FAILS, ["1"], ["2"]),
        ("OnSuccess", "fake.local/ready:1", [], []),
        ("OnSuccess", FAILS, ["1"], ["1", "2"]),
        ("Never", "fake.local/ready:1", ["1"], ["1", "2"]),
    ],
)
async def test_delete_policies(
    rig: HookRig, policy: str, image: str, after: list[str], later: list[str]
) -> None:
    await rig.release({"name": "a", "job": job(image), "deletePolicy": policy})

    await rig.finish()
    await until(rig, after)
    await rig.finish(render=render_of(ref=B))
    await until(rig, later)


@pytest.mark.parametrize("policy", ["BeforeCreation", "Never"])
async def test_a_run_for_a_render_that_nobody_wants_any_more_has_ended_before_the_next_begins(
    rig: HookRig, policy: str
) -> None:
    await rig.release({"name": "a", "job": job(HANGS), "deletePolicy": policy})
    await rig.advance()
    (first,) = await rig.jobs()
    assert first["metadata"]["finalizers"] == [HOOK_FINALIZER]

    await replaced(rig, B)

    (second,) = await rig.jobs()
    assert second["metadata"]["uid"] != first["metadata"]["uid"]
    entry = await rig.entry("a")
    assert (entry.render_ref, entry.run, entry.phase) == (B, 2, "Running")


async def test_hooks_that_left_the_release_are_strays_and_their_jobs_end(rig: HookRig) -> None:
    await rig.release({"name": "a", "job": job(HANGS)})
    await rig.advance()
    release = await rig.read()
    assert strays(release, render_of()) == ()

    without = release.model_copy(update={"lifecycle": release.lifecycle.model_copy(update={"pre_sync": ()})})
    gone = strays(without, render_of())
    assert [entry.name for entry in gone] == ["a"]
    assert await end_jobs(rig.client, gone, uid="another") == 0
    assert await end_jobs(rig.client, gone, uid=release.metadata.uid) == 1
    await rig.no_job_is_left()


async def test_a_run_for_another_render_is_superseded_until_it_has_a_result(rig: HookRig) -> None:
    await rig.release({"name": "a", "job": job(HANGS)}, {"name": "go", "approval": {}})
    await rig.advance()
    release = await rig.read()

    assert superseded(release, render_of()) == ()
    assert [entry.name for entry in superseded(release, render_of(ref=B))] == ["a", "go"]
    entry = as_ended(release.status.hooks[0], render_of(ref=B), datetime.now(UTC))
    assert (entry.phase, entry.run) == ("Superseded", 1)
    assert entry.message == "it was ended, since another render is wanted"


@pytest.mark.parametrize("kind", ["approval to Job", "Job to approval", "another namespace"])
async def test_a_hook_that_is_changed_while_it_runs_is_ended_and_made_again(rig: HookRig, kind: str) -> None:
    hangs: dict[str, Any] = {"job": job(HANGS), "namespace": rig.namespace}
    go: dict[str, Any] = {"approval": {}}
    before, after = {
        "approval to Job": (go, hangs),
        "Job to approval": (hangs, go),
        "another namespace": (hangs | {"namespace": "default"}, hangs),
    }[kind]
    await rig.release({"name": "a", **before})
    begun = await rig.due()
    await rig.advance(runs=begun)
    first = (await rig.entry("a")).job

    await rig.change({"name": "a", **after})
    standing = await rig.advance(runs=begun)
    assert standing.message == "hook a: it was changed while it ran, and is made again", (
        "by a pass that knows"
    )

    release = await rig.read()
    (late,) = superseded(release, render_of())
    ended = as_ended(late, render_of(), datetime.now(UTC))
    assert ended.message == "it was ended, since its hook was changed"
    again = await rig.due()
    assert again[0].number == 2
    async with asyncio.timeout(60):
        while (await rig.entry("a")).run != 2:
            standing = await rig.advance(runs=again)
    assert first is None or await find_job(rig.client, first) is None
    entry = await rig.entry("a")
    assert (entry.phase, len(await rig.jobs())) == (("Pending", 0) if "approval" in after else ("Running", 1))
    assert standing.awaits == (("a",) if "approval" in after else ())
    if entry.job is not None:
        assert entry.job.partition("/")[0] == rig.namespace
        assert await end_jobs(rig.client, [entry], uid=release.metadata.uid) == 1
    await rig.no_job_is_left()


async def test_a_late_attempt_touches_no_job_of_a_later_run(rig: HookRig) -> None:
    await rig.release({"name": "a", "job": job(HANGS)})
    late = await rig.due()
    await rig.advance()
    await replaced(rig, B)
    (second,) = await rig.jobs()

    with pytest.raises(Fenced):
        await rig.advance(runs=late)

    (left,) = await rig.jobs()
    assert left["metadata"]["uid"] == second["metadata"]["uid"]
    assert "deletionTimestamp" not in left["metadata"]


async def test_what_is_kept_for_good_only_loses_the_finalizer_once_it_has_ended(rig: HookRig) -> None:
    await rig.release({"name": "a", "job": job(), "deletePolicy": "Never"})
    await rig.finish()
    release = await rig.read()

    assert await end_jobs(rig.client, release.status.hooks, uid=release.metadata.uid) == 0

    assert await names(rig) == ["1"]


async def test_the_name_of_a_job_tells_the_render(rig: HookRig) -> None:
    await rig.release({"name": "a", "job": job(), "deletePolicy": "Never"})
    for ref in (A, B, A):
        await rig.finish(render=render_of(ref=ref))

    renders = {
        each["metadata"]["annotations"]["convoy.kumodo.io/hook-run"]: each["metadata"]["annotations"][
            "convoy.kumodo.io/render-ref"
        ]
        for each in await rig.jobs()
    }
    assert renders == {"1": A, "2": B, "3": A}
