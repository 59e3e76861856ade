"""A pass that goes on where it waited is the attempt that it was, and its result is that of the latest pass (D25)."""

from __future__ import annotations

from workflows.contract import Plan
from workflows.state import Point, Resume, Wait
from workflows.waits import gone_on

BEFORE = Plan(uid="u", render_ref="r", run_id="first run", requested_at="1", generation=1, started_at="t1")
NOW = Plan(uid="u", render_ref="r", run_id="next run", requested_at="2", generation=2, started_at="t2")


def test_it_keeps_its_start_and_tells_of_the_run_that_goes_on() -> None:
    wait = Wait(at=Resume(BEFORE, point=Point.CLAIM))

    plan = gone_on(wait, NOW).plan

    assert (plan.started_at, plan.requested_at, plan.generation) == ("t1", "2", 2)
    assert plan.run_id == "next run", "the run may have continued as new since"
