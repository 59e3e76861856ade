"""The gates of a plan: which waves wait, how long, and when one activity cannot do all of it (D25)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from activities.plan_gates import failed_gate, left_unfinished, may_wait, waves_of
from convoy.api.objects import key_of
from convoy.api.release import Release
from convoy.api.release_status import ReleaseStatus
from convoy.api.rendered import Render, RenderedObject
from workflows.contract import HookRun, Plan, WavePlan


def render(*waves: int) -> Render:
    def item(wave: int) -> RenderedObject:
        tree = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"in-{wave}", "namespace": "n"}}
        return RenderedObject(key_of(tree), "v1", wave, tree)

    return Render("sha256:1", "main@1", tuple(item(wave) for wave in waves))


def release(*waves: dict[str, Any]) -> Release:
    return Release.model_validate(
        {
            "metadata": {"name": "shop", "namespace": "team", "uid": "u"},
            "spec": {
                "clusterRef": {"name": "here"},
                "source": {"inline": {"files": {}}},
                "content": {"manifests": {}},
                "syncWaves": list(waves),
            },
        }
    )


def health(wave: int, **more: Any) -> dict[str, Any]:
    return {"wave": wave, "strategy": "Health", **more}


def test_a_wave_with_strategy_health_waits_ten_minutes_unless_told() -> None:
    found = waves_of(
        release(health(1), health(2, timeout="90s"), health(3, timeout="0s")), render(0, 1, 2, 3)
    )
    assert list(found) == [
        WavePlan(0, 1),
        WavePlan(1, 1, gate=True, timeout=600.0),
        WavePlan(2, 1, gate=True, timeout=90.0),
        WavePlan(3, 1, gate=True, timeout=600.0),
    ]


def test_the_first_wave_of_the_render_waits_for_none() -> None:
    assert list(waves_of(release(health(-1), health(0)), render(0, 4))) == [WavePlan(0, 1), WavePlan(4, 1)]


def test_waves_that_are_not_listed_or_not_there_wait_for_none() -> None:
    waves = waves_of(release({"wave": 1, "strategy": "Apply"}, health(7)), render(0, 1, 2))
    assert not any(wave.gate for wave in waves)


PLAN = Plan(waves=(WavePlan(0, 1), WavePlan(1, 1)), prune=True)


def test_a_plan_without_gates_and_hooks_waits_nowhere() -> None:
    assert not may_wait(PLAN)
    assert not may_wait(replace(PLAN, prune=False, prune_after_healthy=True))


@pytest.mark.parametrize(
    "plan",
    [
        replace(PLAN, waves=(WavePlan(0, 1), WavePlan(1, 1, gate=True, timeout=1.0))),
        replace(PLAN, prune_after_healthy=True),
        replace(PLAN, pre_sync=(HookRun("migrate", 1),)),
        replace(PLAN, post_sync=(HookRun("smoke", 1),)),
    ],
)
def test_gates_and_hooks_are_places_to_wait(plan: Plan) -> None:
    assert may_wait(plan)


# --- an attempt before it --------------------------------------------------------------------------


@pytest.mark.parametrize("reason", ["WaitingForWave", "WaitingForHealth", "DeployFailed", None])
def test_an_attempt_that_did_not_come_to_its_end_leaves_the_gates_something_to_see(
    reason: str | None,
) -> None:
    assert left_unfinished(status({"reason": reason, "renderRef": "another"}))


def test_an_attempt_that_succeeded_leaves_nothing_and_neither_does_none() -> None:
    assert not left_unfinished(status({"reason": "Applied"}))
    assert not left_unfinished(ReleaseStatus())


# --- a gate that has timed out ----------------------------------------------------------------------

GATED = (WavePlan(0, 2), WavePlan(1, 1, gate=True, timeout=1.0), WavePlan(4, 1, gate=True, timeout=1.0))
ATTEMPT = {"renderRef": "r", "reason": "DeployFailed", "startedAt": "2026-01-01T00:00:10Z"}
FAILED = {"wave": 0, "phase": "Failed", "objects": 2, "applied": 2, "finishedAt": "2026-01-01T00:10:10Z"}


def status(attempt: dict[str, Any] | None = None, *waves: dict[str, Any]) -> ReleaseStatus:
    return ReleaseStatus.model_validate(
        {"waves": waves or (FAILED,), "lastAttempted": ATTEMPT | (attempt or {})}
    )


def test_a_wave_that_was_applied_and_is_failed_has_let_the_next_gate_time_out() -> None:
    assert failed_gate(status(), "r", GATED) == 1
    later = (FAILED | {"phase": "Healthy"}, FAILED | {"wave": 1, "applied": 1})
    assert failed_gate(status(None, *later), "r", GATED) == 2


@pytest.mark.parametrize(
    ("why", "found"),
    [
        ("nothing was attempted", ReleaseStatus()),
        ("another render was", status({"renderRef": "other"})),
        ("it failed otherwise", status({"reason": "SourceNotReady"})),
        ("it waits now", status({"reason": "WaitingForWave"}, FAILED | {"phase": "WaitingForHealth"})),
        ("an attempt before it timed out", status({"startedAt": "2026-01-01T00:20:00Z"})),
        ("the wave failed at its apply", status(None, FAILED | {"applied": 1})),
        ("nobody knows when", status(None, FAILED | {"finishedAt": "once"})),
    ],
)
def test_else_a_gate_gets_its_whole_time(why: str, found: ReleaseStatus) -> None:
    assert failed_gate(found, "r", GATED) == 0, why


def test_a_wave_without_a_gate_behind_it_times_nothing_out() -> None:
    assert failed_gate(status(), "r", (WavePlan(0, 2), WavePlan(1, 1))) == 0
