"""A pass that began and wrote no result was lost: by a crash, a reset or a terminated run."""

from __future__ import annotations

from typing import Any

from activities.resolving import trigger_of
from convoy.api.release import Release
from convoy.policy.trigger import Trigger
from workflows.contract import SyncRequest

CREATED = [SyncRequest(trigger=Trigger.CREATED, uid="u")]


def release(sync: dict[str, Any] | None) -> Release:
    return Release.model_validate(
        {
            "metadata": {"name": "shop", "namespace": "team", "uid": "u"},
            "spec": {
                "clusterRef": {"name": "here"},
                "source": {"inline": {"files": {}}},
                "content": {"manifests": {}},
            },
            "status": {"sync": sync} if sync else {},
        }
    )


def test_a_second_attempt_does_not_take_what_the_first_one_noted_for_done() -> None:
    begun = release({"workflowId": "sync/team/shop", "runId": "r"})
    assert trigger_of(begun, CREATED, []) is Trigger.RESTARTED


def test_what_was_seen_and_has_its_result_starts_nothing() -> None:
    done = release({"workflowId": "sync/team/shop", "runId": "r", "settledAt": "2026-11-29T12:00:00Z"})
    assert trigger_of(done, CREATED, []) is None


def test_an_unfinished_pass_is_made_again_only_where_somebody_asks() -> None:
    assert trigger_of(release({"runId": "r"}), [], []) is None


def test_a_new_reason_comes_before_the_unfinished_pass() -> None:
    begun = release({"runId": "r"})
    assert trigger_of(begun, CREATED, [Trigger.SPEC_CHANGED]) is Trigger.SPEC_CHANGED


def test_a_retry_stays_a_retry() -> None:
    begun = release({"runId": "r"})
    assert trigger_of(begun, [SyncRequest(trigger=Trigger.RETRY, uid="u")], []) is Trigger.RETRY


def test_a_release_that_was_never_begun_is_not_unfinished() -> None:
    assert trigger_of(release(None), CREATED, []) is None
