"""The Releases of each Cluster by cluster wave: who waits for whom, without a look at all of them.

A thousand Releases of one wave wait for nobody. Whoever looked through all of them for each event of one would do
that a thousand times whenever a fleet changes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from convoy.api.release import Release


class WaveIndex:
    """Follows the changes of a copy of Releases, and answers in the time that the waves take, not the Releases."""

    def __init__(self) -> None:
        self._waves: defaultdict[tuple[str, str], defaultdict[int, dict[str, Release]]] = defaultdict(
            lambda: defaultdict(dict)
        )

    def change(self, before: Release | None, after: Release | None) -> None:
        """Take a change of one Release; None where it was, or is, not there."""
        if before is not None:
            waves = self._waves[_cluster(before)]
            waves[before.spec.cluster_wave].pop(before.metadata.name, None)
            if not waves[before.spec.cluster_wave]:
                del waves[before.spec.cluster_wave]
        if after is not None:
            self._waves[_cluster(after)][after.spec.cluster_wave][after.metadata.name] = after

    def lower(self, release: Release) -> list[Release]:
        """Return the Releases of lower waves on the Cluster of this one."""
        waves = self._beside(release)
        return [
            other
            for wave, names in waves.items()
            if wave < release.spec.cluster_wave
            for other in names.values()
        ]

    def higher(self, release: Release) -> list[str]:
        """Return the names of the Releases of higher waves on the Cluster of this one: they may wait for it."""
        waves = self._beside(release)
        return [name for wave, names in waves.items() if wave > release.spec.cluster_wave for name in names]

    def _beside(self, release: Release) -> Mapping[int, Mapping[str, Release]]:
        return self._waves.get(_cluster(release), {})


def _cluster(release: Release) -> tuple[str, str]:
    return release.metadata.namespace, release.spec.cluster_ref.name
