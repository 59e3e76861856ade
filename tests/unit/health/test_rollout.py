"""D28: what follows for a rollout from what is seen; each transition, and each case that changes nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from convoy.api.release import FailurePolicy
from convoy.api.release_status import Rollout
from convoy.api.times import format_time
from convoy.health.rollout import RolloutPhase, Seen, deadline, next_rollout

GOOD, BAD, FIX = (f"sha256:{letter * 64}" for letter in "abc")
START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
TIMEOUT = timedelta(minutes=10)
IN_TIME = START + timedelta(minutes=9)
TOO_LATE = START + timedelta(minutes=11)
HOLD = FailurePolicy(action="Hold", health_timeout=TIMEOUT)
ROLLBACK = FailurePolicy(action="Rollback", health_timeout=TIMEOUT)


def rollout(phase: str, ref: str = BAD, last: str | None = GOOD, **more: Any) -> Rollout:
    return Rollout(
        phase=phase, render_ref=ref, last_healthy_render_ref=last, started_at=format_time(START), **more
    )


def after(before: Rollout | None, policy: FailurePolicy | None = ROLLBACK, **seen: Any) -> Rollout | None:
    return next_rollout(before, Seen(policy=policy, release="shop -n team", **({"now": IN_TIME} | seen)))


def state(found: Rollout | None) -> tuple[str | None, str | None, str | None] | None:
    return (found.phase, found.render_ref, found.last_healthy_render_ref) if found else None


PROGRESSING, HEALTHY = rollout("Progressing"), rollout("Healthy", last=BAD)
FAILED, ROLLED_BACK = rollout("Failed"), rollout("RolledBack")
PIN_FAILED = FAILED.model_copy(update={"pinned": True})
ALL = [PROGRESSING, HEALTHY, FAILED, ROLLED_BACK]

TRANSITIONS: list[tuple[str, Rollout | None, dict[str, Any], tuple[str, str, str | None] | None]] = [
    ("no sync has begun", None, {}, None),
    ("the first sync begins", None, {"starting": BAD}, ("Progressing", BAD, None)),
    (
        "the policy is new, and the history knows a healthy render",
        None,
        {"starting": BAD, "last_healthy": GOOD},
        ("Progressing", BAD, GOOD),
    ),
    ("it becomes healthy", PROGRESSING, {"healthy": BAD}, ("Healthy", BAD, BAD)),
    ("another render is healthy", PROGRESSING, {"healthy": GOOD}, ("Progressing", BAD, GOOD)),
    ("there is time left", PROGRESSING, {"trouble": "x"}, ("Progressing", BAD, GOOD)),
    ("its time is up", PROGRESSING, {"now": TOO_LATE}, ("RolledBack", BAD, GOOD)),
    ("healthy in the last moment", PROGRESSING, {"now": TOO_LATE, "healthy": BAD}, ("Healthy", BAD, BAD)),
    ("a preSync hook failed", PROGRESSING, {"hook_failed": "x"}, ("RolledBack", BAD, GOOD)),
    ("time is up, action Hold", PROGRESSING, {"now": TOO_LATE, "policy": HOLD}, ("Failed", BAD, GOOD)),
    ("time is up, no store", PROGRESSING, {"now": TOO_LATE, "obstacle": "x"}, ("Failed", BAD, GOOD)),
    ("time is up, pinned", PROGRESSING, {"now": TOO_LATE, "pinned": True}, ("Failed", BAD, GOOD)),
    (
        "time is up, nothing was ever healthy",
        rollout("Progressing", last=None),
        {"now": TOO_LATE},
        ("Failed", BAD, None),
    ),
    (
        "time is up of a render that was healthy last itself",
        rollout("Progressing", last=BAD),
        {"now": TOO_LATE},
        ("Failed", BAD, BAD),
    ),
    ("the same render is synced again", PROGRESSING, {"starting": BAD}, ("Progressing", BAD, GOOD)),
    ("the healthy one is synced again", HEALTHY, {"starting": BAD}, ("Healthy", BAD, BAD)),
    ("health comes and goes later", HEALTHY, {"now": TOO_LATE, "trouble": "x"}, ("Healthy", BAD, BAD)),
    ("a hook of the healthy one fails later", HEALTHY, {"hook_failed": "x"}, ("Healthy", BAD, BAD)),
    ("the failed one is synced again", FAILED, {"starting": BAD}, ("Failed", BAD, GOOD)),
    ("the failed one becomes healthy after all", FAILED, {"healthy": BAD}, ("Failed", BAD, BAD)),
    ("the failed one becomes healthy, rolled back", ROLLED_BACK, {"healthy": BAD}, ("RolledBack", BAD, GOOD)),
    ("the render that is back is healthy", ROLLED_BACK, {"healthy": GOOD}, ("RolledBack", BAD, GOOD)),
    ("rolled back for long", ROLLED_BACK, {"now": TOO_LATE, "trouble": "x"}, ("RolledBack", BAD, GOOD)),
    ("what has failed is synced again, rolled back", ROLLED_BACK, {"starting": BAD}, ("RolledBack", BAD, GOOD)),
    ("a person pins what has failed", ROLLED_BACK, {"starting": BAD, "pinned": True}, ("Progressing", BAD, GOOD)),
    ("the pin goes under which it failed", PIN_FAILED, {"starting": BAD}, ("Progressing", BAD, GOOD)),
    ("what has failed stays pinned", FAILED, {"starting": BAD, "pinned": True}, ("Failed", BAD, GOOD)),
    *(
        ("another render begins", before, {"starting": FIX}, ("Progressing", FIX, before.last_healthy_render_ref))
        for before in ALL
    ),
    *(
        (
            "a forced sync begins",
            before,
            {"starting": BAD, "forced": True},
            ("Progressing", BAD, before.last_healthy_render_ref),
        )
        for before in ALL
    ),
    *(("the policy is taken away", before, {"policy": None, "now": TOO_LATE}, None) for before in ALL),
]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "seen", "expected"),
    [row[1:] for row in TRANSITIONS],
    ids=[f"{row[1].phase if row[1] else 'none'}: {row[0]}" for row in TRANSITIONS],
)
def test_what_follows(
    before: Rollout | None, seen: dict[str, Any], expected: tuple[str, str, str | None] | None
) -> None:
    assert state(after(before, **seen)) == expected


def test_the_time_counts_from_the_start_of_the_rollout_and_not_from_later_syncs() -> None:
    again = after(PROGRESSING, starting=BAD, now=IN_TIME)

    assert again == PROGRESSING
    assert state(after(again, now=START + TIMEOUT + timedelta(seconds=1))) == ("RolledBack", BAD, GOOD)


def test_another_render_and_a_forced_sync_start_the_time_anew() -> None:
    for seen in ({"starting": FIX}, {"starting": BAD, "forced": True}):
        begun = after(PROGRESSING, now=IN_TIME, **seen)
        assert begun is not None
        assert begun.started_at == format_time(IN_TIME)
        assert after(begun, now=TOO_LATE) == begun


def test_time_that_a_person_takes_is_not_the_renders() -> None:
    waiting = after(PROGRESSING, now=TOO_LATE, paused=True)

    assert waiting is not None
    assert (waiting.phase, waiting.started_at) == ("Progressing", format_time(TOO_LATE))
    for other in (HEALTHY, FAILED, ROLLED_BACK):
        assert after(other, now=TOO_LATE, paused=True) == other


def test_a_rollout_is_never_judged_early() -> None:
    # startedAt has no fractions: this rollout may have begun at 03:04:05.999.
    assert deadline(PROGRESSING, ROLLBACK) == START + TIMEOUT + timedelta(seconds=1)


def test_only_a_running_rollout_has_a_deadline() -> None:
    assert [deadline(before, ROLLBACK) for before in (None, HEALTHY, FAILED, ROLLED_BACK)] == [None] * 4
    assert deadline(PROGRESSING, None) is None


def test_a_health_timeout_of_zero_is_no_limit() -> None:
    unlimited = FailurePolicy(action="Rollback", health_timeout=timedelta())

    assert deadline(PROGRESSING, unlimited) is None
    assert after(PROGRESSING, unlimited, now=TOO_LATE) == PROGRESSING
    assert state(after(PROGRESSING, unlimited, hook_failed="x")) == ("RolledBack", BAD, GOOD)


def test_a_start_that_cannot_be_read_counts_from_now_on() -> None:
    found = after(PROGRESSING.model_copy(update={"started_at": "yesterday"}), now=TOO_LATE)

    assert found is not None
    assert (found.phase, found.started_at) == ("Progressing", format_time(TOO_LATE))


def test_a_rollback_says_what_failed_what_is_back_and_what_to_do() -> None:
    found = after(PROGRESSING, now=TOO_LATE, trouble="Deployment.apps team/web: 0 of 3 replicas are ready.")

    assert found is not None
    assert found.message == (
        "The render sha256:bbbbbbbbbbbb was not applied and healthy within 10m0s: "
        "Deployment.apps team/web: 0 of 3 replicas are ready. "
        "The last healthy render sha256:aaaaaaaaaaaa takes its place until the source gives another render: "
        "push a fix. To try the failed one again: kubectl convoy release sync shop -n team --force"
    )


def test_a_render_is_told_with_the_revision_that_it_comes_from() -> None:
    found = after(PROGRESSING, now=TOO_LATE, revisions={BAD: "main@sha1:2", GOOD: "main@sha1:1"})

    assert found is not None
    assert found.message is not None
    assert found.message.startswith("The render sha256:bbbbbbbbbbbb (main@sha1:2) was not applied")
    assert "The last healthy render sha256:aaaaaaaaaaaa (main@sha1:1) takes its place" in found.message


@pytest.mark.parametrize(
    ("seen", "told"),
    [
        ({"policy": HOLD}, "Nothing is rolled back: failurePolicy.action is Hold. Push a fix, "),
        (
            {"pinned": True},
            "Nothing is rolled back: the Release is pinned, and only a person changes a pin. ",
        ),
        (
            {"obstacle": "this installation has no render store (--render-store-url)"},
            "Nothing is rolled back: this installation has no render store (--render-store-url). ",
        ),
    ],
)
def test_a_failure_says_why_nothing_is_rolled_back(seen: dict[str, Any], told: str) -> None:
    found = after(PROGRESSING, now=TOO_LATE, **seen)

    assert found is not None
    assert found.message is not None
    assert found.message.startswith(
        "The render sha256:bbbbbbbbbbbb was not applied and healthy within 10m0s: "
    )
    assert told in found.message
    assert "kubectl convoy release rollback shop -n team" in found.message


def test_beside_a_rollback_it_says_why_the_fix_is_not_taken() -> None:
    rolled_back = after(PROGRESSING, now=TOO_LATE)
    assert rolled_back is not None
    assert rolled_back.message is not None

    broken = after(rolled_back, fault="SourceNotReady: git: no such branch")
    assert broken is not None
    assert broken.message == (
        f"{rolled_back.message} Meanwhile the source gives no render: SourceNotReady: git: no such branch"
    )
    assert after(broken, fault="SourceNotReady: git: no such branch") == broken
    assert after(broken) == broken
    assert after(broken, fault="") == rolled_back


def test_a_long_list_of_faults_is_cut() -> None:
    found = after(PROGRESSING, now=TOO_LATE, trouble="x" * 100_000)

    assert found is not None
    assert found.message is not None
    assert len(found.message) < 2000
    assert "x…. The last healthy render" in found.message


def test_every_phase_is_one_of_the_schema() -> None:
    schema = Rollout.model_json_schema()["properties"]["phase"]
    assert {*RolloutPhase} == {*(schema.get("enum") or schema["anyOf"][0]["enum"])}
