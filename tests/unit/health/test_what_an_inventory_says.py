"""The observer's health data decides what is healthy, and why something is not."""

from __future__ import annotations

from typing import Any

import pytest

from convoy.api.inventory import ReleaseInventory
from convoy.api.release import Release
from convoy.health.observed import (
    NOT_HEALTHY,
    HealthyRender,
    applied_since,
    healthy_render,
    last_healthy_render,
    trouble_of,
)
from tests.unit.policy.releases import AT, OTHER_REF, REF, release


def inventory(ref: str = REF, applied: str = REF, **health: Any) -> ReleaseInventory:
    tree = {"spec": {"renderRef": applied}, "status": {"health": {"renderRef": ref, **health}}}
    return ReleaseInventory.read(tree)


def test_a_render_is_healthy_once_it_is_applied_as_a_whole() -> None:
    assert healthy_render(inventory(phase="Healthy", healthyAt=AT)) == HealthyRender(REF, AT, now=True)
    # A wave of the next render is healthy; the inventory is exact for the one before.
    assert healthy_render(inventory(phase="Healthy", applied=OTHER_REF)) == NOT_HEALTHY
    assert healthy_render(inventory(phase="Progressing")) == NOT_HEALTHY
    assert healthy_render(ReleaseInventory()) == NOT_HEALTHY


def test_what_was_healthy_for_a_moment_was_healthy() -> None:
    flapped = healthy_render(inventory(phase="Degraded", healthyAt=AT))

    assert flapped.since("2026-01-02T03:00:00Z") == REF
    assert flapped.since("2026-01-02T04:00:00Z") == "", "healthy before this rollout"
    assert flapped.since("") == ""
    assert healthy_render(inventory(phase="Healthy", healthyAt=AT)).since("2026-01-02T04:00:00Z") == REF


BEGAN, LATER = "2026-01-02T03:04:06Z", "2026-01-02T03:05:00Z"


@pytest.mark.parametrize(
    ("ref", "reason", "applied_at", "expected"),
    [
        (REF, "Applied", LATER, True),
        (REF, "HookFailed", AT, False),
        (REF, "WaitingForHook", AT, False),
        (REF, None, AT, False),
        (REF, "DeployFailed", LATER, True),
        (REF, "Applied", AT, True),
        (OTHER_REF, "DeployFailed", AT, False),
        (REF, "HookFailed", BEGAN, False),
    ],
    ids=[
        "it has",
        "a hook of the forced sync failed",
        "a hook of the forced sync runs",
        "its sync runs",
        "and a later resync failed",
        "and then a person took his time",
        "the sync of another render failed in the middle",
        "a hook of the forced sync failed, which began in the second in which the one before ended",
    ],
)
def test_a_rollout_has_applied_its_render_where_a_sync_since_it_began_has(
    ref: str, reason: str | None, applied_at: str, expected: bool
) -> None:
    status = {
        "lastAttempted": {"renderRef": ref} | ({"reason": reason} if reason else {}),
        "lastSuccessful": {"renderRef": REF, "appliedAt": applied_at},
    }

    assert applied_since(release(status=status), REF, BEGAN) is expected


def test_what_has_post_sync_hooks_running_counts_by_its_latest_apply() -> None:
    brought = {"renderRef": REF, "appliedAt": AT}
    status = {"lastAttempted": {"renderRef": REF, "reason": "DeployFailed"}, "unrecorded": brought}
    assert not applied_since(release(status=status), REF, BEGAN)

    again = {"unrecorded": brought | {"appliedAgainAt": LATER}}

    assert applied_since(release(status=status | again), REF, BEGAN)


def test_the_last_healthy_render_is_the_newest_of_the_history_that_was_healthy() -> None:
    history = [{"renderRef": OTHER_REF}, {"renderRef": REF, "healthyAt": AT}]

    assert last_healthy_render(release(status={"history": history})) == REF
    assert last_healthy_render(release(status={"history": history[:1]})) == ""


def attempted(reason: str, ref: str = REF) -> Release:
    return release(status={"lastAttempted": {"renderRef": ref, "reason": reason, "message": "why"}})


def test_the_trouble_is_that_of_the_attempt_and_then_that_of_the_objects() -> None:
    objects = [{"ref": f"Pod a/{n}", "phase": "Degraded", "message": "crash loop"} for n in range(5)]
    sick = inventory(phase="Degraded", unhealthy=objects)

    assert trouble_of(attempted("Unappliable"), sick, REF) == "Unappliable: why"
    told = trouble_of(attempted("Applied"), sick, REF)
    assert told.startswith("Pod a/0: Degraded: crash loop; Pod a/1: Degraded: crash loop; ")
    assert told.endswith("; and 2 objects more")
    assert trouble_of(attempted("Unappliable", OTHER_REF), sick, REF) == told


def test_trouble_of_another_render_is_no_trouble_of_this_one() -> None:
    sick = inventory(OTHER_REF, phase="Degraded", unhealthy=[{"ref": "Pod a/b", "phase": "Degraded"}])

    assert trouble_of(release(), sick, REF) == ""
    assert trouble_of(release(), ReleaseInventory(), REF) == ""
