"""Which Releases wait for which, and that a Release of the only wave has none to look at (reference/sync-policy)."""

from __future__ import annotations

from convoy.api.release import Release
from convoy.policy.wave_index import WaveIndex
from tests.unit.policy.releases import release


def index(*releases: Release) -> WaveIndex:
    found = WaveIndex()
    for each in releases:
        found.change(None, each)
    return found


def test_lower_and_higher_waves_of_the_same_cluster_are_found() -> None:
    base, app, late = (release(name, clusterWave=wave) for name, wave in (("b", -1), ("a", 0), ("l", 3)))
    waves = index(base, app, late)
    assert waves.lower(late) == [base, app]
    assert waves.lower(base) == []
    assert waves.higher(base) == ["a", "l"]
    assert waves.higher(late) == []


def test_a_release_that_changes_its_wave_or_goes_is_found_where_it_is() -> None:
    low, moved = release("a"), release("a", clusterWave=2)
    waves = index(low)
    waves.change(low, moved)
    middle = release("m", clusterWave=1)
    assert (waves.lower(middle), waves.higher(middle)) == ([], ["a"])
    waves.change(moved, None)
    assert waves.higher(middle) == []


def test_releases_of_other_clusters_and_namespaces_are_no_neighbours() -> None:
    elsewhere = release("a", metadata={"namespace": "other"}), release("b", clusterRef={"name": "other"})
    assert index(*elsewhere).lower(release("c", clusterWave=1)) == []
