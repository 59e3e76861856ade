"""A run that is reset or terminated by hand is followed at once, while its attempt still goes on (design 04, rule 11).

The index of inventories shows the new attempt's first write, and the old one stops before its next request.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from convoy.kube.client import Answer, KubeClient
from convoy.sync.apply import apply_wave
from convoy.sync.interruptions import Fenced, Interrupted
from convoy.sync.ledger import Ledger
from convoy.sync.prune import prune
from tests.kube.sync.rig import Rig, entries, render_of, retarget

Happening = Callable[[], Awaitable[None]]


class Interloper(KubeClient):
    """A client during whose first write somebody does something; the write itself arrives."""

    happening: Happening | None = None

    async def request(self, method: str, path: str, **options: Any) -> Answer:
        answer = await super().request(method, path, **options)
        if method != "GET" and self.happening is not None:
            happening, self.happening = self.happening, None
            await happening()
        return answer


def takes_over(rig: Rig, ledger: Ledger, newer: Ledger) -> Happening:
    async def take_over() -> None:
        await newer.begin()
        await rig.ownership.as_of(newer.resource_version)
        assert rig.ownership.overtook(ledger)

    return take_over


async def test_a_wave_stops_before_its_next_object(rig: Rig) -> None:
    release = await rig.release()
    boxes = [rig.config_map(name) for name in "abc"]
    ledger = await rig.ledger(release)
    await rig.claim(ledger, render_of(*boxes))
    async with Interloper(rig.home.endpoint) as client:
        client.happening = takes_over(rig, ledger, await rig.ledger(release))
        with pytest.raises((Fenced, Interrupted)):
            await apply_wave(
                retarget(rig.target, client),
                ledger,
                render_of(*boxes).objects,
                seen={},
                should_stop=lambda: rig.ownership.overtook(ledger),
            )
    assert [await rig.get(box) is not None for box in boxes] == [True, False, False]
    # What it could not record any more is planned, so it is not lost.
    assert [each.key.name for each in (await rig.record(release)).planned] == ["a", "b", "c"]


async def test_a_prune_stops_before_its_next_object(rig: Rig) -> None:
    release = await rig.release()
    boxes = [rig.config_map(name) for name in "abc"]
    await rig.sync(release, render_of(*boxes))
    ledger = await rig.ledger(release)
    await ledger.begin()
    newer = await rig.ledger(release)
    async with Interloper(rig.home.endpoint) as client:
        client.happening = takes_over(rig, ledger, newer)
        with pytest.raises(Fenced):
            await prune(retarget(rig.target, client), ledger, {entries(boxes[0])[0].key}, rig.ownership)
    assert [await rig.get(box) is not None for box in boxes] == [True, True, False]


async def test_the_attempt_that_took_over_is_not_overtaken_by_its_own_writes(rig: Rig) -> None:
    release = await rig.release()
    boxes = [rig.config_map(name) for name in "abc"]
    await rig.sync(release, render_of(*boxes))
    ledger = await rig.ledger(release)
    for _ in range(3):
        await ledger.begin()
        assert not rig.ownership.overtook(ledger)
        await rig.ownership.as_of(ledger.resource_version)
        assert not rig.ownership.overtook(ledger)
