"""D27: wherever a process dies, a hook runs once and its result is not lost; on a real server, with a TTL of 0."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from convoy.hooks.standing import Standing
from tests.kube.hooks.rig import Died, HookRig, job, mortal

MOST = 60
"""Requests that no pass needs."""

SIDE_BY_SIDE = 8
"""Processes at a time: each has a time limit, and more of them than the machine has room for would run into it."""


async def dying(rig: HookRig, hook: Mapping[str, Any], *, at: int, answered: bool) -> tuple[int, int, str]:
    """Run a hook to its end with a process that dies once, and another that goes on.

    Returns how many requests there were, how many Jobs were made, and what came of the hook.
    """
    name = f"r{at}-{'answered' if answered else 'lost'}"
    await rig.release({"name": f"h{name}", **hook}, name=name)
    runs = await rig.due(name)
    async with mortal(rig.client) as client:
        client.dies_at, client.answered = at, answered

        async def finish() -> Standing:
            while not (standing := await rig.advance(name, client=client, runs=runs)).done:  # noqa: ASYNC110
                await asyncio.sleep(1)
            return standing

        async with asyncio.timeout(120):
            try:
                await finish()
            except Died:
                await finish()
        return client.requests, client.jobs_made, (await rig.entry(f"h{name}", name)).phase or ""


@pytest.mark.parametrize(
    ("hook", "phase"),
    [
        ({"job": job(ttlSecondsAfterFinished=0)}, "Succeeded"),
        ({"job": job(), "deletePolicy": "OnSuccess"}, "Succeeded"),
        ({"job": job("fake.local/job-fails:1", ttlSecondsAfterFinished=0)}, "Failed"),
    ],
    ids=["a TTL of 0", "deleted as it succeeds", "a failure"],
)
async def test_a_hook_runs_once_and_its_result_is_kept(
    rig: HookRig, hook: dict[str, Any], phase: str
) -> None:
    needed, made, found = await dying(rig, hook, at=MOST, answered=True)
    assert (made, found) == (1, phase)
    assert needed < MOST

    deaths = [(at, answered) for at in range(1, needed + 1) for answered in (False, True)]
    side_by_side = asyncio.Semaphore(SIDE_BY_SIDE)

    async def one(at: int, answered: bool) -> tuple[int, int, str]:
        async with side_by_side:
            return await dying(rig, hook, at=at, answered=answered)

    done = await asyncio.gather(*(one(*death) for death in deaths))

    wrong = {
        death: (made, found)
        for death, (_, made, found) in zip(deaths, done, strict=True)
        if (made, found) != (1, phase)
    }
    assert wrong == {}
    await rig.no_job_is_left()
