"""When `sync --wait` ends, and how: a table of what the Release may say."""

from __future__ import annotations

from typing import Any

import pytest

from convoy.cli.waiting import outcome_of

ASKED, BEFORE, LATER = "2026-01-01T00:00:10Z", "2026-01-01T00:00:00Z", "2026-01-01T00:00:20Z"


def release(
    reason: str = "Applied",
    *,
    asked: str = ASKED,
    settled: bool = True,
    handled: str = "",
    healthy: str | None = None,
    because: str = "Progressing",
    rollout: str | None = None,
) -> dict[str, Any]:
    status = str(reason == "Applied")
    conditions = [{"type": "Applied", "status": status, "reason": reason, "message": "told"}]
    if healthy is not None:
        conditions.append({"type": "Healthy", "status": healthy, "reason": because, "message": "sick"})
    sync = {"requestedAt": asked, **({"settledAt": LATER} if settled else {})}
    more = {"rollout": {"phase": rollout, "message": "why"}} if rollout else {}
    return {"status": {"conditions": conditions, "sync": sync, "lastHandledSyncAt": handled, **more}}


@pytest.mark.parametrize(
    "tree",
    [
        {},
        release(asked=BEFORE, handled=BEFORE),
        release(settled=False),
        release("WaitingForWave"),
        release("WaitingForApproval"),
        release("WaitingForClusterWave"),
        release(handled=ASKED, healthy="False"),
        release(handled=ASKED, healthy="Unknown", rollout="Progressing"),
        release(handled=ASKED, healthy="True", rollout="Progressing"),
    ],
)
def test_it_goes_on_while_the_request_has_no_result(tree: dict[str, Any]) -> None:
    assert outcome_of(tree, ASKED) is None


@pytest.mark.parametrize(
    "tree",
    [
        release(handled=ASKED),
        release(handled=LATER),
        release(asked=LATER, handled=LATER),
        release(handled=ASKED, healthy="True"),
        release(handled=ASKED, healthy="True", rollout="Healthy"),
        release("WaitingForSync", handled=ASKED),
    ],
)
def test_it_succeeds_once_the_request_was_applied_and_is_healthy(tree: dict[str, Any]) -> None:
    outcome = outcome_of(tree, ASKED)
    assert outcome is not None
    assert outcome.ok


@pytest.mark.parametrize(
    "reason", ["Unappliable", "Unsupported", "DeployFailed", "SourceNotReady", "Suspended"]
)
def test_it_fails_with_the_reason(reason: str) -> None:
    outcome = outcome_of(release(reason, handled=BEFORE), ASKED)
    assert outcome is not None
    assert (outcome.ok, outcome.message) == (False, f"{reason}: told")


def test_it_fails_where_an_object_has_failed() -> None:
    outcome = outcome_of(release(handled=ASKED, healthy="False", because="Degraded"), ASKED)
    assert outcome is not None
    assert (outcome.ok, outcome.message) == (False, "Degraded: sick")


def test_it_waits_for_the_rollback_of_what_has_failed() -> None:
    tree = release(handled=ASKED, healthy="False", because="Degraded", rollout="Progressing")
    assert outcome_of(tree, ASKED) is None


@pytest.mark.parametrize("phase", ["Failed", "RolledBack"])
def test_it_fails_with_the_rollout(phase: str) -> None:
    outcome = outcome_of(release(handled=ASKED, healthy="False", rollout=phase), ASKED)
    assert outcome is not None
    assert (outcome.ok, outcome.message) == (False, f"rollout {phase}: why")
