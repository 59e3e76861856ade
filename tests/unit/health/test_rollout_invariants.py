"""D28, for any sequence of events: what a rollout never does."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from convoy.api.release import FailurePolicy
from convoy.api.release_status import Rollout
from convoy.health.rollout import RolloutPhase, Seen, deadline, next_rollout

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
REFS = st.sampled_from([f"sha256:{letter * 64}" for letter in "abc"])
POLICIES = st.builds(
    FailurePolicy,
    action=st.sampled_from(["Hold", "Rollback"]),
    health_timeout=st.sampled_from([timedelta(0), timedelta(seconds=30), timedelta(minutes=5)]),
)
TEXTS = st.sampled_from(["", "because"])
SIGHTS = st.builds(
    Seen,
    policy=st.one_of(POLICIES, POLICIES, POLICIES, st.none()),
    now=st.just(START),
    starting=st.one_of(st.just(""), REFS),
    forced=st.booleans(),
    pinned=st.booleans(),
    healthy=st.one_of(st.just(""), REFS),
    last_healthy=st.one_of(st.just(""), REFS),
    hook_failed=TEXTS,
    paused=st.booleans(),
    obstacle=TEXTS,
    fault=st.one_of(st.none(), TEXTS),
)
LIVES = st.lists(st.tuples(SIGHTS, st.integers(0, 400)), max_size=30)


def states(life: list[tuple[Seen, int]]) -> list[tuple[Rollout | None, Seen, Rollout | None]]:
    """Let one event follow the other, each some seconds later; returns (before, seen, after)."""
    now = START
    rollout: Rollout | None = None
    steps: list[tuple[Rollout | None, Seen, Rollout | None]] = []
    for sight, seconds in life:
        now += timedelta(seconds=seconds)
        seen = replace(sight, now=now)
        after = next_rollout(rollout, seen)
        steps.append((rollout, seen, after))
        rollout = after
    return steps


@given(LIVES)
def test_it_rolls_back_only_where_a_rollback_is_wanted_and_possible(life: list[tuple[Seen, int]]) -> None:
    for before, seen, after in states(life):
        if after is None or after.phase != RolloutPhase.ROLLED_BACK:
            continue
        assert after.last_healthy_render_ref not in (None, "", after.render_ref)
        if before is None or before.phase != RolloutPhase.ROLLED_BACK:
            assert seen.policy is not None
            assert (seen.policy.action, seen.pinned, seen.obstacle) == ("Rollback", False, "")


@given(LIVES)
def test_only_a_progressing_rollout_fails_and_only_at_its_deadline_or_a_hook(
    life: list[tuple[Seen, int]],
) -> None:
    for before, seen, after in states(life):
        if (
            after is None
            or after.phase not in (RolloutPhase.FAILED, RolloutPhase.ROLLED_BACK)
            or before is None
        ):
            assert after is None or before is not None or after.phase == RolloutPhase.PROGRESSING
            continue
        if before.phase in (RolloutPhase.FAILED, RolloutPhase.ROLLED_BACK):
            continue
        due = deadline(before, seen.policy)
        assert before.phase == RolloutPhase.PROGRESSING
        assert seen.hook_failed or (due is not None and seen.now >= due and not seen.paused)
        assert seen.healthy != before.render_ref


@given(LIVES)
def test_what_failed_stays_failed_until_another_render_or_a_forced_sync_begins(
    life: list[tuple[Seen, int]],
) -> None:
    for before, seen, after in states(life):
        if (
            before is None
            or before.phase not in (RolloutPhase.FAILED, RolloutPhase.ROLLED_BACK)
            or seen.policy is None
        ):
            continue
        assert after is not None
        pinned = seen.pinned and before.phase == RolloutPhase.ROLLED_BACK
        pinned |= before.phase == RolloutPhase.FAILED and bool(before.pinned) and not seen.pinned
        anew = seen.starting and (seen.forced or pinned or seen.starting != before.render_ref)
        assert (after.phase == RolloutPhase.PROGRESSING) == bool(anew)
        assert after.phase != RolloutPhase.HEALTHY
        assert after.render_ref == (seen.starting if anew else before.render_ref)


@given(LIVES)
def test_the_last_healthy_render_was_seen_healthy_and_is_never_forgotten(
    life: list[tuple[Seen, int]],
) -> None:
    healthy = set()
    for before, seen, after in states(life):
        healthy |= {seen.healthy, seen.last_healthy}
        if after is not None and after.last_healthy_render_ref:
            assert after.last_healthy_render_ref in healthy
        if before is not None and before.last_healthy_render_ref and seen.policy is not None:
            assert after is not None
            assert after.last_healthy_render_ref


@given(LIVES)
def test_seeing_the_same_again_changes_nothing_more(life: list[tuple[Seen, int]]) -> None:
    for _, seen, after in states(life):
        again = replace(seen, forced=False)
        settled = next_rollout(after, again)
        assert next_rollout(settled, again) == settled


@given(LIVES)
def test_the_clock_is_set_only_by_a_start_or_by_a_person(life: list[tuple[Seen, int]]) -> None:
    for before, seen, after in states(life):
        if before is None or after is None or before.started_at == after.started_at:
            continue
        assert seen.starting or seen.paused
