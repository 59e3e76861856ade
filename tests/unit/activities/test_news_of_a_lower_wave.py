"""A pass that a lower cluster wave starts knows of its change, also where the worker's own copy lags behind."""

from __future__ import annotations

from typing import Any, cast

import pytest

from activities.siblings import Siblings
from convoy.api.objects import Manifest
from convoy.api.release import Release
from convoy.kube.client import KubeClient
from convoy.policy.cluster_waves import seen_lower_waves
from tests.unit.policy.releases import conditions, release, tree

LOWER_NOW = tree("low", status=conditions("True", "True"))


class Home:
    """Answers with the Releases as they are now."""

    def __init__(self) -> None:
        self.lists = 0

    async def list(self, *_: Any) -> list[Manifest]:
        self.lists += 1
        return [LOWER_NOW]


class Lagging(Siblings):
    """A copy that still has the lower Release as it was."""

    def __init__(self, home: Home, *, local: Release) -> None:
        super().__init__(cast(KubeClient, home))
        self._local = local

    def lower(self, release: Release) -> list[Release]:
        return [self._local]


BEFORE = release("low", status=conditions("True"))
NOW = Release.read(LOWER_NOW)


@pytest.mark.parametrize(
    ("local", "lists"), [(BEFORE, 1), (NOW, 0)], ids=["the copy lags", "the copy has it"]
)
async def test_the_releases_are_read_live_only_where_the_copy_lags(local: Release, lists: int) -> None:
    home = Home()
    seen = seen_lower_waves(release("high", clusterWave=1), [BEFORE])
    high = release("high", clusterWave=1, status={"handled": {"lowerWaves": seen}})

    found = await Lagging(home, local=local).lower_as_told(high)

    assert home.lists == lists
    assert seen_lower_waves(high, found) == seen_lower_waves(high, [NOW])
