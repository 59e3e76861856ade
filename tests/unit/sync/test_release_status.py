"""What the status tells of a sync, and when it changes (`reference/apply-and-prune`, Status)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from convoy.api.conditions import find_condition
from convoy.api.objects import Manifest
from convoy.api.release_status import Rollout
from convoy.health.observed import NOT_HEALTHY, HealthyRender
from convoy.sync.attempt import Attempt
from convoy.sync.release_status import (
    Result,
    WaveProgress,
    applied_ref,
    attempting,
    begun,
    own_status,
    rolled_out,
    settled,
    waves_at,
)

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
ATTEMPT = Attempt(
    render_ref="sha256:new",
    revision="main@sha1:1",
    trigger="SpecChanged",
    requested_at="2026-01-02T03:00:00Z",
    started_at="2026-01-02T03:04:00Z",
    objects=3,
)
SUCCESS = Result(reason="Applied", message="applied", applied=True, attempted=ATTEMPT)
SUMMARY = ("Ready", "Reconciling", "Stalled")
FAILURES = ["Unappliable", "DeployFailed", "PruneFailed", "WaitingForPrune"]


def release(**status: Any) -> Manifest:
    return {"metadata": {"generation": 7}, "status": status}


def after(tree: Manifest, result: Result, *, now: datetime = NOW) -> Manifest:
    """Return the Release with the status that a pass leaves."""
    status = settled(tree, result, generation=7, now=now)
    kept = {name: value for name, value in tree["status"].items() if name not in own_status(tree)}
    return {**tree, "status": kept | status}


def failure(reason: str) -> Result:
    return Result(reason=reason, message="no", applied=False, attempted=ATTEMPT)


def test_last_attempted_records_an_attempt_as_it_begins() -> None:
    status = attempting(release(), ATTEMPT)
    assert status["lastAttempted"] == {
        "renderRef": "sha256:new",
        "revision": "main@sha1:1",
        "trigger": "SpecChanged",
        "requestedAt": "2026-01-02T03:00:00Z",
        "startedAt": "2026-01-02T03:04:00Z",
    }


@pytest.mark.parametrize("reason", FAILURES)
def test_last_attempted_records_a_failed_attempt_too_and_last_successful_and_history_stay(
    reason: str,
) -> None:
    before = after(release(), replace(SUCCESS, attempted=replace(ATTEMPT, render_ref="sha256:old")))
    status = after(before, failure(reason), now=NOW + timedelta(hours=1))["status"]
    assert status["lastAttempted"]["renderRef"] == "sha256:new"
    assert status["lastAttempted"]["reason"] == reason
    assert status["lastAttempted"]["finishedAt"] == "2026-01-02T04:04:05Z"
    assert status["lastSuccessful"] == before["status"]["lastSuccessful"]
    assert status["history"] == before["status"]["history"]


def test_a_success_sets_last_successful_and_the_history() -> None:
    status = after(release(), SUCCESS)["status"]
    assert status["lastSuccessful"] == {
        "renderRef": "sha256:new",
        "revision": "main@sha1:1",
        "appliedAt": "2026-01-02T03:04:05Z",
    }
    assert [(entry["renderRef"], entry["objects"]) for entry in status["history"]] == [("sha256:new", 3)]


def test_in_manual_mode_a_reconcile_that_applies_nothing_changes_none_of_the_three() -> None:
    before = after(release(), SUCCESS)
    report = Result(reason="Applied", message="in sync; the apply waits for /sync", applied=True)
    status = after(before, report, now=NOW + timedelta(hours=1))["status"]
    for name in ("lastAttempted", "lastSuccessful", "history"):
        assert status[name] == before["status"][name]


def test_what_is_applied_is_recorded_at_the_end_of_its_post_sync_hooks() -> None:
    before = after(release(), replace(SUCCESS, attempted=replace(ATTEMPT, render_ref="sha256:old")))
    runs = after(before, replace(SUCCESS, has_hooks=True), now=NOW + timedelta(hours=1))
    for name in ("lastSuccessful", "history"):
        assert runs["status"][name] == before["status"][name]
    assert applied_ref(runs) == "sha256:new", "it is on the cluster all the same"

    said = Result(reason="Applied", message="applied; postSync hooks: done", applied=True)
    still = after(runs, replace(said, has_hooks=True), now=NOW + timedelta(hours=2))
    assert still["status"]["history"] == before["status"]["history"], "a report in between"
    done = after(still, said, now=NOW + timedelta(hours=3))["status"]
    assert done["lastSuccessful"] == {
        "renderRef": "sha256:new",
        "revision": "main@sha1:1",
        "appliedAt": "2026-01-02T04:04:05Z",
    }
    assert [entry["renderRef"] for entry in done["history"]] == ["sha256:new", "sha256:old"]
    assert "unrecorded" not in done


def test_a_sync_of_the_same_render_leaves_open_what_the_hooks_hold_and_why_it_came() -> None:
    runs = after(release(), replace(SUCCESS, has_hooks=True))
    again = replace(ATTEMPT, trigger="Periodic")
    runs["status"] |= attempting(runs, again)
    assert "history" not in after(runs, replace(SUCCESS, attempted=again, has_hooks=True))["status"]
    assert "history" not in after(runs, replace(failure("DeployFailed"), attempted=again))["status"]
    (entry,) = after(runs, replace(SUCCESS, attempted=again))["status"]["history"]
    assert (entry["renderRef"], entry["trigger"]) == ("sha256:new", "SpecChanged")


def test_an_entry_tells_when_its_render_came_and_last_successful_when_it_was_applied_again() -> None:
    runs = after(release(), replace(SUCCESS, has_hooks=True))
    again = after(runs, replace(SUCCESS, has_hooks=True), now=NOW + timedelta(hours=1))
    done = after(again, replace(SUCCESS, only_looked=True), now=NOW + timedelta(hours=2))["status"]
    assert done["lastSuccessful"]["appliedAt"] == "2026-01-02T04:04:05Z", "a look at hooks applies nothing"
    (entry,) = done["history"]
    assert entry["appliedAt"] == "2026-01-02T03:04:05Z"
    assert "appliedAgainAt" not in entry


def test_a_look_at_hooks_of_which_the_status_tells_nothing_records_what_was_applied() -> None:
    done = after(release(), replace(SUCCESS, only_looked=True))["status"]
    assert [entry["renderRef"] for entry in done["history"]] == ["sha256:new"]
    assert done["lastSuccessful"]["renderRef"] == "sha256:new"


def test_what_is_applied_and_nobody_waits_for_is_recorded_where_another_render_waits_for_sync() -> None:
    runs = after(release(), replace(SUCCESS, has_hooks=True))
    waits = after(runs, Result(reason="WaitingForSync", message="", applied=False))["status"]
    assert [entry["renderRef"] for entry in waits["history"]] == ["sha256:new"]
    for reason in ("Suspended", "SourceNotReady"):
        held = after(runs, Result(reason=reason, message="", applied=False))["status"]
        assert "history" not in held, "the next pass goes on with the hooks"


def test_a_sync_of_another_render_records_what_was_applied_before_it() -> None:
    runs = after(release(), replace(SUCCESS, has_hooks=True))
    begun_now = attempting(runs, replace(ATTEMPT, render_ref="sha256:next"))
    assert [entry["renderRef"] for entry in begun_now["history"]] == ["sha256:new"]
    assert begun_now["lastSuccessful"]["renderRef"] == "sha256:new"
    assert "unrecorded" not in begun_now


def test_the_same_render_again_updates_the_newest_entry_instead_of_adding_one() -> None:
    again = replace(ATTEMPT, revision="main@sha1:2", trigger="Periodic", objects=4)
    resync = replace(SUCCESS, attempted=again)
    status = after(after(release(), SUCCESS), resync, now=NOW + timedelta(hours=1))["status"]
    assert status["history"] == [
        {
            "renderRef": "sha256:new",
            "revision": "main@sha1:2",
            "appliedAt": "2026-01-02T03:04:05Z",
            "trigger": "SpecChanged",
            "objects": 4,
        }
    ], "when and why the render came stays"
    assert status["lastSuccessful"]["appliedAt"] == "2026-01-02T04:04:05Z"


def test_a_render_that_comes_back_is_a_new_entry() -> None:
    tree = release()
    for ref in ("a", "b", "a"):
        tree = after(tree, replace(SUCCESS, attempted=replace(ATTEMPT, render_ref=ref)))
    assert [entry["renderRef"] for entry in tree["status"]["history"]] == ["a", "b", "a"]


def test_the_history_tells_a_pinned_render_and_a_rollback_from_what_the_source_gave() -> None:
    rollout = {"phase": "RolledBack", "renderRef": "bad", "lastHealthyRenderRef": "good"}

    def desired(ref: str, *, pin: str = "") -> object:
        tree = release(rollout=rollout) | ({"pin": {"renderRef": pin}} if pin else {})
        done = after(tree, replace(SUCCESS, attempted=replace(ATTEMPT, render_ref=ref)))
        return done["status"]["history"][0].get("desired")

    assert desired("good") == "lastHealthy"
    assert desired("other") is None
    assert desired("old", pin="old") == "pin"
    assert desired("good", pin="good") == "pin", "the pin comes first"
    assert desired("other", pin="old") is None, "it was pinned after that sync had begun"


def test_a_pin_on_what_has_post_sync_hooks_running_does_not_change_why_it_came() -> None:
    runs = after(release(), replace(SUCCESS, has_hooks=True))
    pinned = runs | {"pin": {"renderRef": "sha256:new"}}
    (entry,) = after(pinned, SUCCESS)["status"]["history"]
    assert "desired" not in entry


def test_a_pin_on_what_is_applied_does_not_change_why_it_came() -> None:
    pinned = after(release(), SUCCESS) | {"pin": {"renderRef": ATTEMPT.render_ref}}
    (entry,) = after(pinned, SUCCESS)["status"]["history"]
    assert "desired" not in entry


def test_the_history_is_as_long_as_the_release_says() -> None:
    tree = {**release(), "spec": {"historyLimit": 3}}
    for number in range(5):
        attempt = replace(ATTEMPT, render_ref=f"r{number}")
        tree = after(tree, replace(SUCCESS, attempted=attempt))
    assert [entry["renderRef"] for entry in tree["status"]["history"]] == ["r4", "r3", "r2"]


def test_a_request_is_handled_with_the_value_that_the_pass_has_read() -> None:
    status = after(release(), replace(SUCCESS, handled_sync_at=ATTEMPT.requested_at))["status"]
    assert status["lastHandledSyncAt"] == ATTEMPT.requested_at
    assert "lastHandledSyncAt" not in after(release(), failure("DeployFailed"))["status"]


@pytest.mark.parametrize("reason", [*FAILURES, "WaitingForOwner", "Suspended", "SourceNotReady"])
def test_a_force_request_is_used_up_whatever_comes_of_it(reason: str) -> None:
    result = replace(failure(reason), handled_force_at="2026-01-02T03:00:00Z")
    assert after(release(), result)["status"]["lastHandledForceSyncAt"] == "2026-01-02T03:00:00Z"


def test_the_beginning_of_a_pass_says_what_it_has_seen_and_where_it_runs() -> None:
    before = after(release(), SUCCESS)
    status = begun(before, handled={"specHash": "h"}, workflow_id="sync/team/shop", run_id="r", now=NOW)
    assert status["handled"] == {"specHash": "h"}
    assert status["sync"] == {"workflowId": "sync/team/shop", "runId": "r"}, "and not settled any more"
    assert status["lastSuccessful"] == before["status"]["lastSuccessful"]


def test_ready_is_unknown_from_the_first_pass_over_a_generation_on() -> None:
    new = release()
    status = begun(new, handled={}, workflow_id="sync/team/shop", run_id="r", now=NOW)
    told = {each["type"]: (each["status"], each["reason"]) for each in status["conditions"]}
    assert told["Ready"] == ("Unknown", "Reconciling")
    assert told["Reconciling"][0] == "True"
    assert "Applied" not in told


def test_a_pass_over_a_known_generation_begins_without_flipping_ready() -> None:
    before = after(release(), SUCCESS)
    status = begun(before, handled={}, workflow_id="sync/team/shop", run_id="r", now=NOW)
    assert status["conditions"] == before["status"]["conditions"]


def healthy_at(status: Manifest) -> list[str | None]:
    return [entry.get("healthyAt") for entry in status["history"]]


def test_the_history_remembers_when_a_render_became_healthy_the_first_time() -> None:
    before = after(release(), replace(SUCCESS, attempted=replace(ATTEMPT, render_ref="sha256:old")))
    before = after(before, SUCCESS)

    def seen(tree: Manifest, healthy: HealthyRender) -> Manifest:
        return begun(tree, handled={}, workflow_id="w", run_id="r", now=NOW, healthy=healthy)

    first = seen(before, HealthyRender("sha256:new", "2026-01-02T03:04:00Z", now=True))
    assert healthy_at(first) == ["2026-01-02T03:04:00Z", None]
    later = {**before, "status": first}
    assert healthy_at(seen(later, HealthyRender("sha256:new", "2026-01-02T05:00:00Z"))) == healthy_at(first)
    assert healthy_at(after(later, SUCCESS)["status"]) == healthy_at(first), "a resync keeps it"
    assert healthy_at(seen(before, HealthyRender("sha256:old", "t"))) == [None, None], "not what is applied"
    assert healthy_at(seen(before, NOT_HEALTHY)) == [None, None]


def test_the_history_remembers_when_a_render_became_healthy_while_its_post_sync_hooks_ran() -> None:
    runs = after(release(), replace(SUCCESS, has_hooks=True))
    healthy = Rollout(phase="Healthy", render_ref="sha256:new")
    runs["status"] |= rolled_out(runs, own_status(runs), healthy, now=NOW)
    assert healthy_at(after(runs, SUCCESS)["status"]) == ["2026-01-02T03:04:05Z"]


def test_the_history_remembers_health_that_a_later_sync_of_the_render_saw_while_its_hooks_ran() -> None:
    again = after(after(release(), SUCCESS), replace(SUCCESS, has_hooks=True))
    healthy = Rollout(phase="Healthy", render_ref="sha256:new")
    again["status"] |= rolled_out(again, own_status(again), healthy, now=NOW)
    assert healthy_at(after(again, SUCCESS)["status"]) == ["2026-01-02T03:04:05Z"]


def test_a_rollout_is_written_beside_what_is_there_and_taken_away_with_its_policy() -> None:
    tree = after(release(), SUCCESS)
    before = tree["status"]
    progressing = rolled_out(tree, before, Rollout(phase="Progressing", render_ref="sha256:new"), now=NOW)
    assert progressing == before | {"rollout": {"phase": "Progressing", "renderRef": "sha256:new"}}

    healthy = rolled_out(tree, progressing, Rollout(phase="Healthy", render_ref="sha256:new"), now=NOW)
    assert healthy_at(healthy) == ["2026-01-02T03:04:05Z"]
    assert rolled_out(tree, progressing, None, now=NOW) == before


def test_ready_is_false_from_the_write_that_ends_a_rollout_badly_to_the_one_that_begins_the_next() -> None:
    healthy = {"type": "Healthy", "status": "True", "reason": "Healthy", "message": "all is well"}
    tree = release(conditions=[healthy])
    tree["status"] = {**settled_after(tree), "conditions": [healthy, *settled_after(tree)["conditions"]]}
    assert summary_of(tree["status"]) == {"Ready": "True", "Reconciling": "False", "Stalled": "False"}
    own = own_status(tree)

    back = rolled_out(tree, own, Rollout(phase="RolledBack", render_ref="sha256:bad", message="m"), now=NOW)
    stalled = {"Ready": "False", "Reconciling": "False", "Stalled": "True"}
    assert summary_of(back) == stalled
    assert find_condition(back["conditions"], "Applied") == find_condition(own["conditions"], "Applied")

    tree["status"] |= back | {"conditions": [healthy, *back["conditions"]]}
    assert summary_of(settled_after(tree)) == stalled, "the pass that applies the last healthy render"
    assert summary_of(begun(tree, handled={}, workflow_id="w", run_id="r", now=NOW)) == stalled

    again = Rollout(phase="Progressing", render_ref="sha256:fix")
    assert summary_of(rolled_out(tree, own_status(tree), again, now=NOW))["Stalled"] == "False"


def settled_after(tree: Manifest) -> Manifest:
    return settled(tree, SUCCESS, generation=7, now=NOW)


def summary_of(status: Manifest) -> dict[str, str]:
    return {each["type"]: each["status"] for each in status["conditions"] if each["type"] in SUMMARY}


def test_waves_before_are_applied_the_present_one_tells_how_far_it_is_and_later_ones_wait() -> None:
    plan = [(-1, 2), (0, 5), (3, 1)]
    waves = waves_at([], plan, WaveProgress(index=1, phase="Applying", applied=4), time="t1")
    assert [(each["wave"], each["phase"], each["applied"], each["objects"]) for each in waves] == [
        (-1, "Applied", 2, 2),
        (0, "Applying", 4, 5),
        (3, "Pending", 0, 1),
    ]
    assert "startedAt" not in waves[2]


def test_a_wave_is_healthy_once_one_that_waits_for_it_has_begun() -> None:
    plan, strategies = [(0, 1), (1, 1), (2, 1)], {1: "Health"}
    waits = waves_at(
        [],
        plan,
        WaveProgress(index=0, phase="WaitingForHealth", applied=1),
        time="t1",
        strategies=strategies,
    )
    assert [(wave["phase"], wave["strategy"]) for wave in waits] == [
        ("WaitingForHealth", "Apply"),
        ("Pending", "Health"),
        ("Pending", "Apply"),
    ]
    opened = waves_at(waits, plan, WaveProgress(index=1, phase="Applying"), time="t2", strategies=strategies)
    later = waves_at(
        opened, plan, WaveProgress(index=2, phase="Applied", applied=1), time="t3", strategies=strategies
    )
    assert [wave["phase"] for wave in later] == ["Healthy", "Applied", "Applied"]
    assert (later[0]["startedAt"], later[0]["finishedAt"]) == ("t1", "t2")
    again = waves_at(later, plan, WaveProgress(index=0, phase="Applying"), time="t4", strategies=strategies)
    assert [wave["phase"] for wave in again] == ["Applying", "Pending", "Pending"]
    assert again[0]["startedAt"] == "t4"


def test_a_wave_that_does_not_become_healthy_has_failed_and_keeps_when_it_began() -> None:
    plan = [(0, 1), (1, 1)]
    began = waves_at([], plan, WaveProgress(index=0, phase="Applying"), time="t1")
    waits = waves_at(began, plan, WaveProgress(index=0, phase="WaitingForHealth", applied=1), time="t2")
    failed = waves_at(waits, plan, WaveProgress(index=0, phase="Failed", applied=1), time="t3")
    assert [wave["phase"] for wave in failed] == ["Failed", "Pending"]
    assert (failed[0]["startedAt"], failed[0]["finishedAt"]) == ("t1", "t3")


def test_times_of_a_wave_stay_while_it_goes_on_and_it_ends_once() -> None:
    plan = [(0, 5)]
    first = waves_at([], plan, WaveProgress(index=0, phase="Applying"), time="t1")
    second = waves_at(first, plan, WaveProgress(index=0, phase="Applying", applied=3), time="t2")
    failed = waves_at(second, plan, WaveProgress(index=0, phase="Failed", applied=3), time="t3")
    assert second[0]["startedAt"] == failed[0]["startedAt"] == "t1"
    assert failed[0]["finishedAt"] == "t3"
    done = waves_at(second, plan, WaveProgress(index=1, phase="Applied"), time="t4")
    again = waves_at(done, plan, WaveProgress(index=1, phase="Applied"), time="t5")
    assert done == again
