"""When a Release is reconciled again (`reference/sync-policy`, Requeue rules and retryBackoff).

The count of failures comes in and goes out: it lives in the Drift workflow and so survives a restart (D34).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import timedelta

from convoy.api.errors import Hold, Terminal, error_classes
from convoy.api.names import APPLIED
from convoy.api.release import RetryBackoff, SyncPolicy

DEFAULT_FACTOR = 2.0
DEFAULT_MAX = timedelta(seconds=1000)
DEFAULT_INITIAL = timedelta(milliseconds=5)


@dataclass(frozen=True, slots=True)
class Requeue:
    """What follows a reconcile."""

    failures: int
    """Failures in a row, this reconcile included."""
    retry_after: timedelta | None
    """Delay of the retry, or None: the next periodic reconcile or an event comes first."""


def requeue(reason: str, failures: int, policy: SyncPolicy) -> Requeue:
    """Return what follows a reconcile that ended with this reason after `failures` failures before it.

    Success and holds reset the count. Terminal reasons keep it and are not retried. Everything else is
    transient, a reason that is not known included: trying again is the safe side.
    """
    error = error_classes().get(reason)
    if reason == APPLIED or (error is not None and issubclass(error, Hold)):
        return Requeue(failures=0, retry_after=None)
    if error is not None and issubclass(error, Terminal):
        return Requeue(failures=failures, retry_after=None)
    return Requeue(failures=failures + 1, retry_after=next_retry(failures + 1, policy.retry_backoff))


def next_retry(failures: int, backoff: RetryBackoff) -> timedelta:
    """Return the delay before retry number `failures` (1 is the first): initial × factor^(n-1), at most max.

    Without `initial` (or with 0) the default limiter counts: 5 ms, doubling, at most 1000 s.
    """
    if not backoff.initial:
        return _delay(DEFAULT_INITIAL, DEFAULT_FACTOR, failures, DEFAULT_MAX)
    factor = DEFAULT_FACTOR if backoff.factor is None or backoff.factor < 1 else backoff.factor
    return _delay(backoff.initial, factor, failures, DEFAULT_MAX if backoff.max is None else backoff.max)


def _delay(initial: timedelta, factor: float, failures: int, limit: timedelta) -> timedelta:
    if initial >= limit:
        return limit
    exponent = max(failures - 1, 0)
    if factor > 1:
        exponent = min(exponent, math.ceil(math.log(limit / initial) / math.log(factor)))
    power = factor**exponent
    return limit if power >= limit / initial else initial * power
