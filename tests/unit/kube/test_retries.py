"""Requests are tried again for a few seconds, as long as that can help."""

from __future__ import annotations

import pytest

from convoy.kube.errors import (
    ApiError,
    Invalid,
    NamespaceTerminating,
    ServerFault,
    TooManyRequests,
    UidMismatch,
)
from convoy.kube.retry import is_retryable_dry_run, with_retries


class Calls:
    """A request that fails with each error in turn and then succeeds."""

    def __init__(self, *failures: ApiError) -> None:
        self.failures = list(failures)
        self.made = 0

    async def __call__(self) -> str:
        self.made += 1
        if self.failures:
            raise self.failures.pop(0)
        return "done"


async def test_a_fault_of_the_server_is_tried_again() -> None:
    calls = Calls(ServerFault("x"), TooManyRequests("y", retry_after=0.01))
    assert await with_retries(calls) == "done"
    assert calls.made == 3


@pytest.mark.parametrize("error", [Invalid("x"), UidMismatch("x")])
async def test_what_cannot_succeed_is_not_tried_again(error: ApiError) -> None:
    calls = Calls(error)
    with pytest.raises(type(error)):
        await with_retries(calls)
    assert calls.made == 1


async def test_a_wait_beyond_the_budget_is_not_begun() -> None:
    calls = Calls(TooManyRequests("y", retry_after=3600))
    with pytest.raises(TooManyRequests):
        await with_retries(calls)
    assert calls.made == 1


async def test_the_last_error_is_raised_when_the_budget_is_used_up() -> None:
    calls = Calls(*[ServerFault(str(i)) for i in range(1000)])
    with pytest.raises(ServerFault):
        await with_retries(calls, budget=0.3)
    assert 1 <= calls.made < 1000


async def test_a_terminating_namespace_is_a_rejection_in_a_dry_run() -> None:
    assert await with_retries(Calls(NamespaceTerminating("x"))) == "done"
    with pytest.raises(NamespaceTerminating):
        await with_retries(Calls(NamespaceTerminating("x")), retry_on=is_retryable_dry_run)
