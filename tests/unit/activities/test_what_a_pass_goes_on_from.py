"""What asks only to look whether a wait is over is told from what applies finished waves again (D25)."""

from __future__ import annotations

import pytest

from activities.resolving import trigger_of
from convoy.policy.trigger import Trigger
from tests.unit.activities.test_an_unfinished_pass_is_made_again import release
from workflows.contract import SyncRequest

SETTLED = release({"runId": "r", "settledAt": "2026-11-29T12:00:00Z"})


def wish(trigger: Trigger) -> SyncRequest:
    return SyncRequest(trigger=trigger, uid="u")


@pytest.mark.parametrize("trigger", [Trigger.APPROVED, Trigger.TIMED_OUT])
def test_an_approval_and_a_deadline_start_a_pass_by_themselves(trigger: Trigger) -> None:
    assert trigger_of(SETTLED, [wish(trigger)], []) is trigger


def test_news_of_health_is_why_a_pass_looks() -> None:
    reasons = [Trigger.HEALTH_REACHED, Trigger.HEALTH_CHANGED]
    assert trigger_of(SETTLED, [wish(Trigger.HEALTH_REACHED)], reasons) is Trigger.HEALTH_REACHED


@pytest.mark.parametrize("other", [Trigger.PERIODIC, Trigger.RETRY])
def test_a_tick_that_comes_with_news_of_health_is_still_a_tick(other: Trigger) -> None:
    wishes = [wish(Trigger.HEALTH_CHANGED), wish(other)]
    assert trigger_of(SETTLED, wishes, [Trigger.HEALTH_CHANGED]) is other


def test_a_changed_spec_comes_before_an_approval() -> None:
    assert trigger_of(SETTLED, [wish(Trigger.APPROVED)], [Trigger.SPEC_CHANGED]) is Trigger.SPEC_CHANGED
