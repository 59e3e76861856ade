"""Bounded concurrency with results in order: thousands of objects, and only so many bodies in memory at a
time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


async def run_pool(items: Sequence[T], work: Callable[[T], Awaitable[R]], *, at_once: int) -> list[R]:
    """Return `work(item)` of each item, in the order of the items; `at_once` run at a time.

    The first exception ends it: the others are cancelled and it is raised.
    """
    results: dict[int, R] = {}
    left = iter(enumerate(items))

    async def worker() -> None:
        # One iterator for all workers: each item is taken once.
        for index, item in left:
            results[index] = await work(item)

    tasks = [asyncio.ensure_future(worker()) for _ in range(min(at_once, len(items)))]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return [results[index] for index in range(len(items))]
