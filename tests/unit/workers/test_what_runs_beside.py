"""What a worker runs beside its activities is noticed when it ends."""

from __future__ import annotations

import asyncio

import pytest

from workers.opening import beside


async def _fails() -> None:
    await asyncio.sleep(0)
    raise RecursionError("nested too deeply")


async def _goes_on(ended: list[str]) -> None:
    try:
        await asyncio.Event().wait()
    finally:
        ended.append("cancelled")


async def test_the_block_ends_with_the_error_of_what_runs_beside_it() -> None:
    async with asyncio.timeout(5):
        with pytest.raises(RecursionError, match="nested too deeply"):
            async with beside(_fails()):
                await asyncio.Event().wait()
        await asyncio.sleep(0)  # the cancellation that ended the block is not left over


async def test_what_runs_beside_ends_with_the_block() -> None:
    ended: list[str] = []
    async with beside(_goes_on(ended)):
        await asyncio.sleep(0)
    assert ended == ["cancelled"]


async def test_a_cancelled_block_stays_cancelled() -> None:
    ended: list[str] = []

    async def block() -> None:
        async with beside(_goes_on(ended)):
            await asyncio.Event().wait()

    task = asyncio.create_task(block())
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == ["cancelled"]
