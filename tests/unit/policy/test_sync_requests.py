"""reference/sync-policy, The /sync request; D22."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from convoy.api.names import HEALTH_REQUESTED_AT, SELF_HEAL_REQUESTED_AT, SYNC_REQUESTED_AT
from convoy.api.release import Release
from convoy.api.times import LATEST, format_time, next_request_time, parse_time
from convoy.kube.annotate import standing_request
from convoy.policy.request import pending_request, requested_at, with_annotation_faults
from tests.unit.policy.releases import A_SECOND_LATER, AT, release, tree

PENDING: dict[str, tuple[dict[str, Any], bool]] = {
    "a request is pending when nothing was handled yet": ({"requested": AT}, True),
    "a request is pending when it is later than lastHandledSyncAt": (
        {"requested": A_SECOND_LATER, "status": {"lastHandledSyncAt": AT}},
        True,
    ),
    "a request that was handled is not pending": (
        {"requested": AT, "status": {"lastHandledSyncAt": AT}},
        False,
    ),
    "an earlier time is not pending": (
        {"requested": AT, "status": {"lastHandledSyncAt": A_SECOND_LATER}},
        False,
    ),
    "convoy compares to the second: a later fraction is not pending": (
        {"requested": "2026-01-02T03:04:05.999Z", "status": {"lastHandledSyncAt": AT}},
        False,
    ),
    "convoy compares to the second: an earlier fraction of the next second is pending": (
        {
            "requested": "2026-01-02T03:04:06.001Z",
            "status": {"lastHandledSyncAt": "2026-01-02T03:04:05.999Z"},
        },
        True,
    ),
    "times of other zones are compared as times": (
        {"requested": "2026-01-02T05:04:05+02:00", "status": {"lastHandledSyncAt": AT}},
        False,
    ),
    "a time in the future is pending, and not for ever": ({"requested": "2036-01-01T00:00:00Z"}, True),
    "a time in the future that was handled is not pending": (
        {"requested": "2036-01-01T00:00:00Z", "status": {"lastHandledSyncAt": "2036-01-01T00:00:00Z"}},
        False,
    ),
    "no annotation is no request": ({}, False),
    "an annotation that is no time is no request": ({"requested": "now"}, False),
    "an empty annotation is no request": ({"requested": ""}, False),
    "in automatic mode convoy does not use lastHandledSyncAt": ({"automatic": True, "requested": AT}, False),
    "if the apply failed the request stays pending": (
        {"requested": AT, "status": {"lastAttempted": {"requestedAt": AT, "reason": "DeployFailed"}}},
        True,
    ),
    "if the apply waits the request stays pending": (
        {"requested": AT, "status": {"lastAttempted": {"requestedAt": AT, "reason": "WaitingForWave"}}},
        True,
    ),
    "a lastHandledSyncAt that is no time counts as none": (
        {"requested": AT, "status": {"lastHandledSyncAt": "never"}},
        True,
    ),
}


@pytest.mark.parametrize("sentence", PENDING)
def test_pending(sentence: str) -> None:
    arguments, pending = PENDING[sentence]
    assert pending_request(release(**arguments)) == (arguments["requested"] if pending else None)


def test_in_automatic_mode_a_request_is_still_known_as_what_the_attempt_answers() -> None:
    assert requested_at(release(automatic=True, requested=AT)) == AT


def test_a_writer_whose_clock_is_an_hour_ahead_does_not_block_the_next_request() -> None:
    now = parse_time(AT)
    ahead = next_request_time(None, now + timedelta(hours=1))
    following = next_request_time(ahead, now, handled=ahead)
    assert pending_request(release(requested=following, status={"lastHandledSyncAt": ahead})) == following


def test_a_request_lost_with_its_annotation_does_not_block_the_next_one() -> None:
    handled = "2036-01-01T00:00:00Z"
    following = next_request_time(None, parse_time(AT), handled=handled)
    assert pending_request(release(requested=following, status={"lastHandledSyncAt": handled})) == following


def test_after_the_latest_time_there_is_requests_begin_anew_from_the_clock() -> None:
    latest = format_time(LATEST)
    assert pending_request(release(requested=latest, status={"lastHandledSyncAt": AT})) == latest
    assert pending_request(release(requested=latest, status={"lastHandledSyncAt": latest})) is None

    following = next_request_time(latest, parse_time(AT), handled=latest)
    assert following == AT
    assert pending_request(release(requested=following, status={"lastHandledSyncAt": latest})) == AT
    assert next_request_time(format_time(LATEST - timedelta(seconds=1)), parse_time(AT)) == latest


def test_two_requests_in_one_second_are_two_requests() -> None:
    now = parse_time(AT)
    first = next_request_time(None, now)
    second = next_request_time(first, now)
    assert pending_request(release(requested=second, status={"lastHandledSyncAt": first})) == second


@pytest.mark.parametrize("text", ["now", "", "2026-01-02", "9999-12-31T23:59:59Z"])
def test_an_annotation_that_is_no_time_is_reported(text: str) -> None:
    assert told(release(requested=text)) == (
        "applied The annotation convoy.kumodo.io/sync-requested-at is no RFC 3339 time and counts as no request: "
        f"{text!r}."
    )


def test_both_annotations_are_reported_and_a_long_text_is_cut() -> None:
    faults = told(release(requested="x" * 10_000, forced="y"))
    assert "sync-requested-at" in faults
    assert "sync-force-requested-at" in faults
    assert len(faults) < 500


def test_times_are_not_reported() -> None:
    assert told(release(requested=AT, forced=AT)) == "applied"
    assert told(release()) == "applied"


def test_what_is_reported_already_is_not_reported_twice() -> None:
    annotations = release(requested="now").metadata.annotations
    once = with_annotation_faults("applied", annotations, {})
    assert with_annotation_faults(once, annotations, {}) == once


def told(one: Release) -> str:
    return with_annotation_faults("applied", one.metadata.annotations, {})


STANDING: dict[str, tuple[dict[str, Any], str]] = {
    "a person's request that no pass has seen stands": ({SYNC_REQUESTED_AT: A_SECOND_LATER}, A_SECOND_LATER),
    "and so does one beside an earlier request of Health's": (
        {SYNC_REQUESTED_AT: A_SECOND_LATER, HEALTH_REQUESTED_AT: AT},
        A_SECOND_LATER,
    ),
    "a self-heal's stands: its pass applies all": (
        {SYNC_REQUESTED_AT: A_SECOND_LATER, SELF_HEAL_REQUESTED_AT: A_SECOND_LATER},
        A_SECOND_LATER,
    ),
    "Health's does not: its pass only looks": (
        {SYNC_REQUESTED_AT: A_SECOND_LATER, HEALTH_REQUESTED_AT: A_SECOND_LATER},
        "",
    ),
    "one that a pass has seen does not": ({SYNC_REQUESTED_AT: AT}, ""),
    "an earlier one than was handled does not": ({SYNC_REQUESTED_AT: "2026-01-01T00:00:00Z"}, ""),
    "what is no time does not": ({SYNC_REQUESTED_AT: "now"}, ""),
    "where there is none none does": ({}, ""),
}


@pytest.mark.parametrize("sentence", STANDING)
def test_a_loop_of_convoys_takes_a_request_that_stands_for_its_own(sentence: str) -> None:
    annotations, standing = STANDING[sentence]
    handled = {"lastHandledSyncAt": AT, "handled": {"syncRequestedAt": AT}}
    asked = tree(status=handled, metadata={"annotations": annotations})
    assert standing_request(asked) == standing
