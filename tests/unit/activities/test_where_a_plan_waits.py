"""The gates of a plan: which waves wait, how long, and when one activity cannot do all of it (D25)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from activities.plan_gates import closed_gate, left_unfinished, may_wait, waves_of
from activities.recording import attempt_of
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
            "metadata": {"name": "shop", "namespace": "team", "uid": "u", "generation": 1},
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


# --- a gate that was found closed -----------------------------------------------------------------

GATED = (WavePlan(0, 2), WavePlan(1, 1, gate=True, timeout=1.0), WavePlan(4, 1, gate=True, timeout=1.0))
UNTIL = "2026-01-01T00:10:00Z"
SECONDS = 1767226200.0
ATTEMPT = {"renderRef": "r", "reason": "WaitingForWave", "gate": {"wave": 4, "until": UNTIL, "generation": 1}}


def status(attempt: dict[str, Any] | None = None) -> ReleaseStatus:
    return ReleaseStatus.model_validate({"lastAttempted": ATTEMPT | (attempt or {})})


def attempted(attempt: dict[str, Any]) -> Release:
    return release().model_copy(update={"status": status(attempt)})


@pytest.mark.parametrize("reason", ["WaitingForWave", "DeployFailed", "ClusterNotReady", None])
def test_the_next_attempt_at_a_render_has_the_deadline_of_the_one_before_it(reason: str | None) -> None:
    assert closed_gate(attempted({"reason": reason}), "r", GATED) == (2, SECONDS)


@pytest.mark.parametrize(
    ("why", "found"),
    [
        ("another render was attempted", {"renderRef": "other"}),
        ("no gate was found closed", {"gate": None}),
        ("the wave waits for none", {"gate": {"wave": 0, "until": UNTIL, "generation": 1}}),
        ("the wave is gone", {"gate": {"wave": 3, "until": UNTIL, "generation": 1}}),
        ("nobody knows until when", {"gate": {"wave": 4, "until": "once", "generation": 1}}),
        ("the Release was changed since", {"gate": {"wave": 4, "until": UNTIL, "generation": 0}}),
    ],
)
def test_else_a_gate_gets_its_whole_time(why: str, found: dict[str, Any]) -> None:
    assert closed_gate(attempted(found), "r", GATED) == (0, 0.0), why


def test_a_release_that_nobody_attempted_has_no_closed_gate() -> None:
    assert closed_gate(release(), "r", GATED) == (0, 0.0)


def test_an_attempt_keeps_the_gate_that_it_found_closed_for_the_next_one() -> None:
    plan = Plan(waves=GATED, failed_gate=2, closed_until=SECONDS + 0.9, generation=3)
    assert attempt_of(plan).gate == {"wave": 4, "until": UNTIL, "generation": 3}
    assert attempt_of(replace(plan, failed_gate=0, closed_until=0.0)).gate is None
