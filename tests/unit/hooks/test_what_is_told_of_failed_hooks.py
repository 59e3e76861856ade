"""What people are told of hooks that failed: the fitting advice, and for as long as they have failed."""

from __future__ import annotations

from typing import Any

import pytest

from convoy.api.hooks import HookStage
from convoy.api.release import Release
from convoy.hooks.failures import advice, failed_runs, why_failed, with_failed_post_sync
from tests.unit.hooks.making import A, B, entry, job, release

GO = {"name": "go", "approval": {}}
POLICY: dict[str, Any] = {"failurePolicy": {"action": "Rollback"}}
SYNC = "kubectl convoy release sync shop -n team"
PRE, POST = HookStage.PRE_SYNC, HookStage.POST_SYNC


def told(found: Release, stage: HookStage = PRE) -> str:
    return advice(found, stage, failed_runs(found, stage, A))


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (
            release(job("migrate"), hooks=[entry("migrate", "Failed")]),
            f"Mend it, then run it again: {SYNC}",
        ),
        (release(GO, hooks=[entry("go", "Failed")]), f"To ask again: {SYNC}"),
        (
            release(job("migrate"), GO, hooks=[entry("migrate", "Failed"), entry("go", "Failed")]),
            f"Mend it, then run it again: {SYNC}",
        ),
        (
            release(job("migrate"), hooks=[entry("migrate", "Failed")], **POLICY),
            f"Mend it, then run it again: {SYNC} --force",
        ),
    ],
    ids=["a Job", "an approval that nobody gave", "both", "in a rollout, which only a force begins anew"],
)
def test_each_failure_has_the_advice_that_helps(found: Release, expected: str) -> None:
    assert told(found) == expected


def test_a_failed_post_sync_hook_is_no_failure_of_the_rollout() -> None:
    found = release(post=[job("smoke")], hooks=[entry("smoke", "Failed")], **POLICY)

    assert told(found, POST) == f"Mend it, then run it again: {SYNC}"


def test_only_runs_for_this_render_and_of_this_stage_have_failed() -> None:
    hooks = [
        entry("migrate", "Failed", message="exit code 1"),
        entry("warm", "Failed", ref=B),
        entry("done", "Succeeded"),
        entry("chart-pre/web/seed", "Failed", message="exit code 2"),
        entry("chart-post/web/test", "Failed"),
        entry("smoke", "Failed"),
    ]
    found = release(job("migrate"), job("warm"), job("done"), post=[job("smoke")], hooks=hooks)

    assert why_failed(failed_runs(found, PRE, A)) == (
        "hook migrate: exit code 1",
        "hook chart-pre/web/seed: exit code 2",
    )
    assert [each.name for each in failed_runs(found, POST, A)] == ["chart-post/web/test", "smoke"]


def test_a_failed_post_sync_hook_is_told_of_at_each_pass_and_once() -> None:
    found = release(post=[job("smoke")], hooks=[entry("smoke", "Failed", message="exit code 1")])

    message = with_failed_post_sync("applied 1 object", found, A)

    assert message == (
        f"applied 1 object; postSync hooks: hook smoke: exit code 1\nMend it, then run it again: {SYNC}"
    )
    assert with_failed_post_sync(message, found, A) == message
    assert with_failed_post_sync("applied 1 object", found, B) == "applied 1 object", "another render"
    assert with_failed_post_sync("The Release is in sync.", found, A).startswith(
        "The Release is in sync; postSync hooks: "
    )
