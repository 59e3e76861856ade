"""D27: batches, waits, deadlines and results of one stage, on a real server."""

from __future__ import annotations

from datetime import timedelta

import pytest

from convoy.api.hooks import HookStage
from convoy.api.names import HOOK_FINALIZER, RELEASE_UID
from convoy.api.times import parse_time
from convoy.hooks.stage import Grant
from convoy.kube.resources import JOBS, RELEASES
from tests.kube.hooks.rig import HookRig, job

FAILS, HANGS = "fake.local/job-fails:1", "fake.local/job-hangs:1"
GO = {"name": "go", "approval": {}}


def seconds(text: str | None) -> float:
    return parse_time(text or "").timestamp()


async def test_batches_run_in_order_and_one_batch_side_by_side(rig: HookRig) -> None:
    await rig.release(
        {"name": "last", "batch": 1, "job": job()},
        {"name": "a", "job": job(HANGS)},
        {"name": "b", "job": job()},
    )

    standing = await rig.advance()

    assert (standing.done, standing.reason) == (False, "WaitingForHook")
    assert [wait.partition(":")[0] for wait in standing.waits] == ["hook a", "hook b"]
    assert sorted(each["metadata"]["annotations"]["convoy.kumodo.io/hook"] for each in await rig.jobs()) == [
        "a",
        "b",
    ]
    entries = {entry.name: entry for entry in (await rig.read()).status.hooks}
    assert {name: (entry.phase, entry.run) for name, entry in entries.items()} == {
        "a": ("Running", 1),
        "b": ("Running", 1),
    }


async def test_a_done_stage_has_its_results_and_the_jobs_are_let_go(rig: HookRig) -> None:
    await rig.release({"name": "a", "job": job()}, {"name": "last", "batch": 1, "job": job()})

    assert (await rig.finish()).failures == ()

    entries = (await rig.read()).status.hooks
    assert [(entry.name, entry.phase, entry.message) for entry in entries] == [
        ("a", "Succeeded", None),
        ("last", "Succeeded", None),
    ]
    assert all(entry.finished_at and entry.started_at for entry in entries)
    assert [each["metadata"].get("finalizers") for each in await rig.jobs()] == [None, None]
    assert await rig.due() == ()


async def test_a_failed_hook_ends_its_stage_with_its_batch(rig: HookRig) -> None:
    await rig.release(
        {"name": "bad", "job": job(FAILS)},
        {"name": "good", "job": job()},
        GO,
        {"name": "z", "batch": 1, "job": job()},
    )

    standing = await rig.finish()

    assert len(standing.failures) == 1
    assert standing.failures[0].startswith(f"hook bad: the Job {rig.namespace}/shop-bad-")
    assert "BackoffLimitExceeded: Job has reached the specified backoff limit" in standing.failures[0]
    entries = {entry.name: entry for entry in (await rig.read()).status.hooks}
    assert {name: entry.phase for name, entry in entries.items()} == {
        "bad": "Failed",
        "good": "Succeeded",
        "go": "Failed",
    }
    assert entries["go"].message == "no longer needed, since hook bad failed"
    again = await rig.due()
    assert [(run.name, run.number) for run in again] == [("bad", 1), ("go", 1)]
    assert (await rig.advance(runs=again)).failures[0] == standing.failures[0]
    assert len(await rig.jobs()) == 2, "it is told again, and nothing runs"


@pytest.mark.parametrize("policy", ["BeforeCreation", "Never"])
async def test_a_hook_that_does_not_end_fails_at_its_deadline_and_its_job_goes(
    rig: HookRig,
    policy: str,
) -> None:
    await rig.release({"name": "slow", "timeout": "90s", "job": job(HANGS), "deletePolicy": policy})
    standing = await rig.advance()
    (made,) = await rig.jobs()
    assert made["spec"]["activeDeadlineSeconds"] == 90
    entry = await rig.entry("slow")
    assert standing.deadline == pytest.approx(seconds(entry.started_at) + 90)
    assert not (await rig.advance()).done

    rig.lost = timedelta(seconds=91)
    (failure,) = (await rig.advance()).failures

    assert f"the Job {entry.job} did not end within 1m30s" in failure
    await rig.no_job_is_left()


async def test_a_suspended_job_is_not_left_to_run_after_its_failure(rig: HookRig) -> None:
    await rig.release({"name": "slow", "timeout": "90s", "job": job(suspend=True)})
    await rig.advance()

    rig.lost = timedelta(seconds=91)
    (failure,) = (await rig.advance()).failures

    assert failure.endswith("did not end within 1m30s; it has no Pod whose log could be read")
    await rig.no_job_is_left()


async def test_a_job_that_was_removed_by_force_is_a_failure(rig: HookRig) -> None:
    await rig.release({"name": "a", "job": job(HANGS)})
    await rig.advance()
    (made,) = await rig.jobs()
    name = made["metadata"]["name"]
    await rig.client.patch(JOBS, rig.namespace, name, {"metadata": {"finalizers": None}})
    await rig.client.delete(JOBS, rig.namespace, name)
    await rig.no_job_is_left()

    (failure,) = (await rig.advance()).failures

    assert failure == f"hook a: the Job {rig.namespace}/{name} was removed by force while it ran"


async def test_a_job_that_somebody_deletes_while_it_runs_is_a_failure_and_goes(rig: HookRig) -> None:
    await rig.release({"name": "a", "job": job(HANGS)})
    await rig.advance()
    (made,) = await rig.jobs()
    await rig.client.delete(JOBS, rig.namespace, made["metadata"]["name"])
    (held,) = await rig.jobs()
    assert held["metadata"]["finalizers"] == [HOOK_FINALIZER], "its result is not recorded yet"

    (failure,) = (await rig.advance()).failures

    assert "it was deleted while it ran" in failure
    await rig.no_job_is_left()


async def test_a_job_that_the_target_refuses_fails_before_any_hook_runs(rig: HookRig) -> None:
    bad = job() | {"completions": -1}
    await rig.release(
        {"name": "a", "job": job()},
        {"name": "typo", "batch": 1, "job": job() | {"parallelsm": 1}},
        {"name": "bad", "batch": 2, "job": bad},
    )

    standing = await rig.advance()

    assert standing.done
    assert [failure.partition(":")[0] for failure in standing.failures] == ["hook typo", "hook bad"]
    assert 'unknown field "spec.parallelsm"' in standing.failures[0]
    assert "spec.completions: Invalid value: -1" in standing.failures[1]
    assert await rig.jobs() == []
    assert [(await rig.entry(name)).job for name in ("typo", "bad")] == [None, None], (
        "there is none to look at"
    )
    (reported,) = await rig.due()
    assert (reported.name, reported.number) == ("typo", 1), "until something changes"


async def test_a_namespace_that_is_not_there_is_a_failure_in_the_servers_words(rig: HookRig) -> None:
    await rig.release({"name": "a", "job": job(), "namespace": f"{rig.namespace}-none"})

    (failure,) = (await rig.advance()).failures

    assert f"namespace {rig.namespace}-none does not exist" in failure
    assert failure.endswith("; a preSync hook runs before the render is applied")


async def test_a_job_of_that_name_that_somebody_else_made_is_not_taken_for_ours(rig: HookRig) -> None:
    await rig.release({"name": "a", "job": job(HANGS)})
    await rig.advance()
    (made,) = await rig.jobs()
    await rig.client.patch(
        JOBS, rig.namespace, made["metadata"]["name"], {"metadata": {"labels": {RELEASE_UID: None}}}
    )
    release = await rig.client.get(RELEASES, rig.namespace, "shop")
    pending = {**release["status"]["hooks"][0], "phase": "Pending"}
    await rig.client.patch(
        RELEASES, rig.namespace, "shop", {"status": {"hooks": [pending]}}, subresource="status"
    )

    (failure,) = (await rig.advance()).failures

    assert "there is a Job of this name that convoy did not make for it" in failure
    assert len(await rig.jobs()) == 1


# --- approvals ------------------------------------------------------------------------------


async def test_an_approval_waits_for_a_person_and_says_how_to_give_it(rig: HookRig) -> None:
    await rig.release(GO)

    standing = await rig.advance()

    assert (standing.done, standing.reason, standing.awaits) == (False, "WaitingForApproval", ("go",))
    assert f"kubectl convoy release approve shop -n {rig.namespace} --hook go" in standing.message
    assert standing.deadline == pytest.approx(seconds((await rig.entry("go")).started_at) + 24 * 3600)
    assert (await rig.entry("go")).phase == "Pending"


async def test_who_approved_and_when_stands_in_the_status(rig: HookRig) -> None:
    await rig.release(GO)
    await rig.advance()

    standing = await rig.advance(grants={"go": Grant("eve", "2026-11-29T10:00:00Z")})

    assert (standing.done, standing.failures) == (True, ())
    entry = await rig.entry("go")
    assert (entry.phase, entry.approved_by, entry.finished_at) == ("Approved", "eve", "2026-11-29T10:00:00Z")


async def test_an_approval_that_nobody_gives_fails_at_its_deadline(rig: HookRig) -> None:
    await rig.release({**GO, "timeout": "1h"})
    await rig.advance()
    rig.lost = timedelta(hours=1)

    assert (await rig.advance()).failures == ("hook go: nobody approved it within 1h0m0s",)


async def test_a_job_and_an_approval_of_one_batch_wait_together(rig: HookRig) -> None:
    await rig.release(GO, {"name": "a", "job": job(HANGS)})

    standing = await rig.advance()

    assert (standing.reason, standing.awaits, len(standing.waits)) == ("WaitingForHook", ("go",), 2)


async def test_post_sync_hooks_are_a_list_of_their_own(rig: HookRig) -> None:
    await rig.release({"name": "pre", "job": job()}, post=[{"name": "post", "job": job()}])

    await rig.finish(stage=HookStage.POST_SYNC)

    assert [entry.name for entry in (await rig.read()).status.hooks] == ["post"]
