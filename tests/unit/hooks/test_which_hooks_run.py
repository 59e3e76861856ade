"""D27: which hooks a pass runs, and under which number."""

from __future__ import annotations

from typing import Any

import pytest

from convoy.api.hooks import HookStage
from convoy.hooks.definition import stage_hooks
from convoy.policy.trigger import Trigger
from tests.unit.hooks.making import A, B, due, entry, job, release, render

FIRST, LATER, LAST = "2026-11-29T10:00:00Z", "2026-11-29T11:00:00Z", "2026-11-29T12:00:00Z"
POST = HookStage.POST_SYNC


def ran(hook: dict[str, Any], phase: str, **more: Any) -> dict[str, Any]:
    """Return the entry of a run of a hook as it stands in the Release now."""
    (found,) = stage_hooks(release(hook), render(), HookStage.PRE_SYNC)
    return entry(hook["name"], phase, definition=found.definition, **more)


def failed(*, batch: int = 0, **more: Any) -> dict[str, Any]:
    return ran(job("migrate", **({"batch": batch} if batch else {})), "Failed", **more)


def test_a_hook_that_never_ran_is_run_1() -> None:
    assert due(release(job("migrate"))) == [("migrate", 1)]


def test_once_per_render_is_not_run_again_for_a_render_that_was_hooked() -> None:
    known = release(job("migrate"), hooks=[entry("migrate", "Succeeded", run=3)])

    assert due(known) == []
    assert due(known, ref=B) == [("migrate", 4)]


WARM = job("warm", runPolicy="EverySync")
SYNCS = {
    "resync": (Trigger.PERIODIC, LATER, 7),
    "self-heal": (Trigger.SELF_HEAL, LATER, 7),
    "retry": (Trigger.RETRY, LATER, 7),
    "health": (Trigger.HEALTH_REACHED, LATER, 7),
    "a person": (Trigger.SYNC_REQUESTED, LAST, 8),
    "retry of what a person asked for": (Trigger.RETRY, LAST, 8),
    "a changed spec": (Trigger.SPEC_CHANGED, LATER, 8),
}


@pytest.mark.parametrize(("trigger", "asked", "run"), SYNCS.values(), ids=SYNCS)
def test_every_sync_is_run_at_each_sync_that_is_not_convoys_own(
    trigger: Trigger, asked: str, run: int
) -> None:
    known = release(WARM, hooks=[ran(WARM, "Succeeded", run=7, requestedAt=LATER)], asked=asked)

    assert due(known, trigger=trigger) == ([("warm", 8)] if run == 8 else [])
    assert due(known, trigger=trigger, forced=True) == [("warm", 8)]
    assert due(known, trigger=trigger, ref=B) == [("warm", 8)]


def test_what_asks_for_a_sync_of_convoys_own_runs_no_hook_again() -> None:
    known = release(WARM, hooks=[ran(WARM, "Succeeded", requestedAt=FIRST)], asked=LATER, heal=LATER)

    assert due(known, trigger=Trigger.SELF_HEAL) == []
    assert due(known, trigger=Trigger.PERIODIC) == []


@pytest.mark.parametrize("policy", ["OncePerRender", "EverySync"])
@pytest.mark.parametrize("phase", ["Pending", "Running"])
def test_a_run_that_has_begun_for_this_render_goes_on_under_its_number(policy: str, phase: str) -> None:
    hook = job("migrate", runPolicy=policy)
    known = release(hook, hooks=[ran(hook, phase, run=2)])

    assert due(known) == [("migrate", 2)]
    assert due(known, trigger=Trigger.SPEC_CHANGED) == [("migrate", 2)]
    assert due(known, forced=True) == [("migrate", 2)], "a forced sync starts no second migration beside it"
    assert due(known, ref=B) == [("migrate", 3)]


@pytest.mark.parametrize("phase", ["Pending", "Running"])
@pytest.mark.parametrize(
    "after",
    [job("x", namespace="other"), job("x", timeout="1m"), {"name": "x", "approval": {}}],
    ids=["another namespace", "another timeout", "another kind"],
)
def test_a_run_whose_hook_was_changed_is_made_again_under_another_number(
    phase: str, after: dict[str, Any]
) -> None:
    known = [ran(job("x"), phase, run=2)]

    assert due(release(after, hooks=known), trigger=Trigger.PERIODIC) == [("x", 3)]
    assert due(release(after, hooks=known), trigger=Trigger.HEALTH_REACHED) == [("x", 3)]


def test_a_changed_spec_asks_a_person_anew() -> None:
    go = {"name": "go", "approval": {}}
    known = release(go, hooks=[ran(go, "Pending", run=2)])

    assert due(known, trigger=Trigger.PERIODIC) == [("go", 2)]
    assert due(known, trigger=Trigger.SPEC_CHANGED) == [("go", 3)], (
        "its time begins again, as after a suspension"
    )


def test_an_approved_hook_is_not_asked_again_for_the_same_render() -> None:
    known = release({"name": "go", "approval": {}}, hooks=[entry("go", "Approved")])

    assert due(known) == []
    assert due(known, forced=True) == []
    assert due(known, ref=B) == [("go", 2)]


def test_a_rollback_runs_only_what_runs_in_each_sync() -> None:
    hooks = (job("migrate"), job("warm", runPolicy="EverySync"))
    known = release(*hooks, hooks=[failed(run=3, ref=B), entry("warm", "Succeeded", run=7, ref=B)])

    assert due(known, rollback=True) == [("warm", 8)]
    assert due(known) == [("migrate", 4), ("warm", 8)], "as a fix that gives the older render again"


def test_a_failed_hook_is_reported_again_and_nothing_runs() -> None:
    hooks = (job("warm", runPolicy="EverySync"), job("migrate", batch=1), job("last", batch=2))

    known = release(*hooks, hooks=[entry("warm", "Succeeded"), failed(run=2, batch=1)])

    assert due(known) == [("migrate", 2)], "under its old number: it is not run"


@pytest.mark.parametrize(
    ("asked", "heal", "run"),
    [
        (FIRST, "", 2),
        (LATER, "", 3),
        (LATER, LATER, 2),
        (LAST, LATER, 3),
    ],
    ids=["the same request", "a new request", "self-heal asks", "a person asks after self-heal"],
)
def test_a_new_request_of_a_person_runs_a_failed_hook_again(asked: str, heal: str, run: int) -> None:
    known = release(job("migrate"), hooks=[failed(run=2, requestedAt=FIRST)], asked=asked, heal=heal)

    assert due(known) == [("migrate", run)]


def test_a_forced_sync_another_render_and_another_definition_run_a_failed_hook_again() -> None:
    assert due(release(job("migrate"), hooks=[failed(run=2)]), forced=True) == [("migrate", 3)]
    assert due(release(job("migrate"), hooks=[failed(run=2)]), ref=B) == [("migrate", 3)]
    assert due(release(job("migrate", timeout="1m"), hooks=[failed(run=2)])) == [("migrate", 3)]


def test_a_batch_is_tried_again_as_a_whole_but_for_what_succeeded() -> None:
    hooks = (job("a"), job("migrate"), {"name": "go", "approval": {}}, job("z", batch=1))
    known = release(*hooks, hooks=[entry("a", "Succeeded"), failed(), entry("go", "Failed", run=4)])

    assert due(known, forced=True) == [("migrate", 2), ("go", 5), ("z", 1)]


def test_a_failed_every_sync_hook_is_run_at_each_sync_too() -> None:
    known = release(WARM, hooks=[ran(WARM, "Failed", run=7)])

    assert due(known, trigger=Trigger.PERIODIC) == [("warm", 8)]
    assert due(known, trigger=Trigger.SELF_HEAL) == [("warm", 8)]


@pytest.mark.parametrize("trigger", [Trigger.HEALTH_REACHED, Trigger.HEALTH_CHANGED, Trigger.TIMED_OUT])
def test_what_only_looks_reports_a_failed_every_sync_hook(trigger: Trigger) -> None:
    known = release(WARM, job("later", batch=1), hooks=[ran(WARM, "Failed", run=7)])

    assert due(known, trigger=trigger) == [("warm", 7)], "under its old number: it is not run"


def test_a_failed_post_sync_hook_ends_its_stage() -> None:
    post = [job("warm", runPolicy="EverySync"), job("migrate", batch=1), job("last", batch=2)]

    known = release(post=post, hooks=[entry("warm", "Succeeded"), failed(batch=1)])

    assert due(known, stage=POST) == [("warm", 2)], "neither the failed one nor what comes after it"
    assert due(known, stage=POST, forced=True) == [("warm", 2), ("migrate", 2), ("last", 1)]


def test_what_runs_beside_a_failed_hook_is_seen_to_its_end() -> None:
    beside = [job("migrate"), job("slow"), job("last", batch=1)]
    known = [failed(run=2), entry("slow", "Running", run=4)]

    assert due(release(*beside, hooks=known)) == [("migrate", 2), ("slow", 4)]
    assert due(release(post=beside, hooks=known), stage=POST) == [("slow", 4)]


def test_numbers_only_grow() -> None:
    known = release(job("migrate"), hooks=[entry("migrate", "Succeeded", ref=B, run=9)])

    assert due(known, ref=A) == [("migrate", 10)]


def test_the_render_that_is_applied_is_not_hooked_again_after_another_ones_hook_has_failed() -> None:
    broken = [entry("migrate", "Failed", ref=B, run=5)]

    assert due(release(job("migrate"), hooks=broken, applied=(A,)), ref=A) == []
    assert due(release(job("migrate"), hooks=broken, applied=(B, A)), ref=A) == [("migrate", 6)]
    assert due(release(job("migrate"), job("new"), hooks=broken, applied=(A,)), ref=A) == [("new", 1)]


def test_a_render_that_comes_back_is_hooked_again() -> None:
    known = release(job("migrate"), hooks=[entry("migrate", "Succeeded", ref=B, run=2)], applied=(B, A))

    assert due(known, ref=A) == [("migrate", 3)]
