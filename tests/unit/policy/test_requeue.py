"""reference/sync-policy, Requeue rules and retryBackoff; D34."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convoy.api.errors import ConvoyError, Hold, Terminal, Transient
from convoy.api.release import RetryBackoff, SyncPolicy
from convoy.policy.requeue import Requeue, next_retry, requeue

MS = timedelta(milliseconds=1)
S = timedelta(seconds=1)
POLICY = SyncPolicy.read({"retryBackoff": {"initial": "5s", "factor": 3, "max": "1m"}})


def _reasons(base: type[ConvoyError]) -> list[str]:
    return [leaf.reason for leaf in base.__subclasses__()]


def test_the_page_and_the_error_tree_name_the_same_transient_reasons() -> None:
    assert sorted(_reasons(Transient)) == [
        "ClusterNotReady",
        "DeployFailed",
        "PruneFailed",
        "SourceNotReady",
        "ValuesNotReady",
    ]
    assert sorted(_reasons(Terminal)) == ["HookFailed", "Pinned", "Unappliable", "Unsupported"]


@pytest.mark.parametrize("reason", _reasons(Transient))
def test_transient_failures_are_retried_with_backoff(reason: str) -> None:
    assert requeue(reason, 0, POLICY) == Requeue(failures=1, retry_after=5 * S)
    assert requeue(reason, 1, POLICY) == Requeue(failures=2, retry_after=15 * S)
    assert requeue(reason, 9, POLICY) == Requeue(failures=10, retry_after=60 * S)


@pytest.mark.parametrize("reason", _reasons(Terminal))
def test_terminal_reasons_wait_for_the_next_periodic_reconcile_and_keep_the_count(reason: str) -> None:
    assert requeue(reason, 3, POLICY) == Requeue(failures=3, retry_after=None)


@pytest.mark.parametrize("reason", _reasons(Hold))
def test_a_hold_resets_the_count_and_waits_for_an_event_or_the_next_periodic_reconcile(reason: str) -> None:
    assert requeue(reason, 3, POLICY) == Requeue(failures=0, retry_after=None)


def test_a_success_resets_the_count() -> None:
    assert requeue("Applied", 3, POLICY) == Requeue(failures=0, retry_after=None)


def test_a_reason_that_is_not_known_is_tried_again() -> None:
    assert requeue("Surprise", 0, POLICY) == Requeue(failures=1, retry_after=5 * S)


DELAYS: dict[str, tuple[dict[str, Any], list[tuple[int, timedelta]]]] = {
    "the delay before retry n is initial × factor^(n-1)": (
        {"initial": "5s", "factor": 3, "max": "1h"},
        [(1, 5 * S), (2, 15 * S), (3, 45 * S), (4, 135 * S)],
    ),
    "factor may be any number": (
        {"initial": "4s", "factor": 1.5, "max": "1h"},
        [(1, 4 * S), (2, 6 * S), (3, 9 * S), (4, 13.5 * S)],
    ),
    "a factor of 1 keeps the delay": ({"initial": "4s", "factor": 1}, [(1, 4 * S), (10**9, 4 * S)]),
    "if factor is less than 1 convoy uses 2": (
        {"initial": "1s", "factor": 0.5},
        [(1, S), (2, 2 * S), (3, 4 * S)],
    ),
    "a factor of 0 counts as 2": ({"initial": "1s", "factor": 0}, [(2, 2 * S)]),
    "a negative factor counts as 2": ({"initial": "1s", "factor": -3}, [(2, 2 * S)]),
    "a factor that is not set is 2": ({"initial": "1s"}, [(2, 2 * S), (3, 4 * S)]),
    "the delay is not more than max": (
        {"initial": "5s", "factor": 2, "max": "12s"},
        [(1, 5 * S), (2, 10 * S), (3, 12 * S), (4, 12 * S), (10**9, 12 * S)],
    ),
    "if max is not set the limit is 1000 seconds": (
        {"initial": "5s", "factor": 2},
        [(8, 640 * S), (9, 1000 * S), (10**9, 1000 * S)],
    ),
    "an initial above 1000 seconds without max is cut to it": ({"initial": "1h"}, [(1, 1000 * S)]),
    "a max above 1000 seconds counts": ({"initial": "5s", "factor": 2, "max": "2h"}, [(100, 7200 * S)]),
    "a huge factor reaches max at once": ({"initial": "1s", "factor": 1e308}, [(1, S), (2, 1000 * S)]),
    "a factor just above 1 does not overflow": (
        {"initial": "1s", "factor": 1.0000000000000002},
        [(1, S), (2, S)],
    ),
    "without initial the default limiter starts at 5 ms and doubles up to 1000 s": (
        {},
        [(1, 5 * MS), (2, 10 * MS), (3, 20 * MS), (18, 655.36 * S), (19, 1000 * S), (10**9, 1000 * S)],
    ),
    "without initial factor and max do not count": (
        {"factor": 5, "max": "1s"},
        [(2, 10 * MS), (30, 1000 * S)],
    ),
    "an initial of 0 counts as not set": ({"initial": "0s"}, [(1, 5 * MS)]),
}


@pytest.mark.parametrize("sentence", DELAYS)
def test_delay(sentence: str) -> None:
    tree, expected = DELAYS[sentence]
    backoff = RetryBackoff.read(tree)
    assert [(number, next_retry(number, backoff)) for number, _ in expected] == expected


@given(
    failures=st.integers(min_value=1, max_value=10**18),
    initial=st.timedeltas(min_value=timedelta(microseconds=1), max_value=timedelta(hours=1)),
    factor=st.floats(allow_nan=False, allow_infinity=False),
    more=st.timedeltas(min_value=timedelta(), max_value=timedelta(days=300)),
)
def test_no_count_and_no_factor_breaks_the_limits(
    failures: int, initial: timedelta, factor: float, more: timedelta
) -> None:
    backoff = RetryBackoff(initial=initial, factor=factor, max=initial + more)
    first, delay, following = (next_retry(number, backoff) for number in (1, failures, failures + 1))
    assert first == initial
    assert initial <= delay <= following <= initial + more
