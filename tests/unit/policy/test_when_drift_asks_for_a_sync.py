"""Self-heal (`reference/drift`): on Drifted, in automatic mode, unless the Release's own sync holds (D35)."""

from __future__ import annotations

import pytest

from convoy.api.errors import Hold
from convoy.api.release import Release
from convoy.api.release_status import LastAttempted
from convoy.policy.heal import heals
from tests.unit.api import full

ALL_IS_APPLIED = {"WaitingForPrune", "WaitingForHealth"}
HOLDS = {hold.reason for hold in Hold.__subclasses__()}


def release(reason: str = "", *, suspend: bool = False, automatic: bool = True) -> Release:
    tree = full.release()
    tree["spec"] |= {"suspend": suspend, "syncPolicy": {"automatic": automatic}}
    applied = {"type": "Applied", "status": "False", "reason": reason, "message": "m"}
    tree["status"] = {"conditions": [applied] if reason else []}
    return Release.model_validate(tree)


@pytest.mark.parametrize("reason", ["", "Applied", "DeployFailed", "PruneFailed", *sorted(ALL_IS_APPLIED)])
def test_drift_is_healed_where_a_sync_would_apply_the_render(reason: str) -> None:
    assert heals(release(reason))


@pytest.mark.parametrize("reason", sorted(HOLDS - ALL_IS_APPLIED | {"HookFailed"}))
def test_what_a_sync_that_holds_has_not_applied_yet_is_not_healed(reason: str) -> None:
    assert not heals(release(reason))


def test_in_manual_mode_and_while_suspended_nothing_is_healed() -> None:
    assert not heals(release(automatic=False))
    assert not heals(release(suspend=True))


def test_what_a_gate_that_has_timed_out_holds_back_is_not_healed() -> None:
    failed = release("DeployFailed")
    attempted = {"reason": "DeployFailed", "gate": {"wave": 1, "until": "2026-01-01T00:00:00Z"}}
    status = failed.status.model_copy(update={"last_attempted": LastAttempted.model_validate(attempted)})
    assert not heals(failed.model_copy(update={"status": status}))
