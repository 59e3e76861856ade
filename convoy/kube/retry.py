"""Trying a request again for a few seconds, as the server asks (D15).

Longer waits are not made here: they belong to the workflow, which holds no slot while it waits.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_before_delay
from tenacity import wait_random_exponential as random_exponential

from convoy.kube.errors import ApiError

T = TypeVar("T")

BUDGET_SECONDS = 5.0
"""How long one request is tried again."""

_backoff = random_exponential(multiplier=0.1, max=2)


def is_retryable(error: BaseException) -> bool:
    """Return whether the same request may succeed a moment later."""
    return isinstance(error, ApiError) and error.is_retryable


def is_retryable_dry_run(error: BaseException) -> bool:
    """As `is_retryable`, but what counts as a rejection of the object is not tried again (D15)."""
    return is_retryable(error) and not (isinstance(error, ApiError) and error.is_users_fault)


async def with_retries(
    call: Callable[[], Awaitable[T]],
    *,
    budget: float = BUDGET_SECONDS,
    retry_on: Callable[[BaseException], bool] = is_retryable,
) -> T:
    """Call until it succeeds, for at most `budget` seconds, waiting at least as long as the server asks.

    `call` makes a new request each time. A wait that would go beyond the budget is not begun.

    Raises:
        ApiError: the last error, or the first one that is not to be tried again.
    """
    began = time.monotonic()
    try:
        # tenacity costs more than the rest of a request does on this side, and almost every call succeeds.
        return await call()
    except ApiError as error:
        if not retry_on(error):
            raise
        first: ApiError | None = error

    async def attempt() -> T:
        nonlocal first
        if first is not None:
            error, first = first, None
            raise error
        return await call()

    left = budget - (time.monotonic() - began)
    retrying = AsyncRetrying(
        retry=retry_if_exception(retry_on), wait=_wait, stop=stop_before_delay(left), reraise=True
    )
    return await retrying(attempt)


def _wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome is not None else None
    asked = error.retry_after if isinstance(error, ApiError) else None
    return max(_backoff(state), asked or 0.0)
