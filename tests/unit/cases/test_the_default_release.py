"""The Releases of a case are merged over the default one."""

from __future__ import annotations

from tests.e2e.runner.merge import merge, release_manifest


def test_a_release_that_says_nothing_is_the_default() -> None:
    release = release_manifest("team", "a", {})

    assert release["metadata"] == {"name": "a", "namespace": "team"}
    assert release["spec"] == {
        "clusterRef": {"name": "target"},
        "source": {"inline": {"files": {}}},
        "content": {"manifests": {}},
        "syncPolicy": {"retryBackoff": {"initial": "10m", "max": "10m"}},
    }


def test_what_a_release_says_is_merged_deeply() -> None:
    release = release_manifest(
        "team", "a", {"spec": {"syncPolicy": {"automatic": True}}, "lifecycle": {"preSync": []}}
    )

    assert release["spec"]["syncPolicy"] == {
        "retryBackoff": {"initial": "10m", "max": "10m"},
        "automatic": True,
    }
    assert release["lifecycle"] == {"preSync": []}


def test_null_takes_a_field_away_and_a_list_replaces_a_list() -> None:
    assert merge({"a": 1, "b": [1, 2], "c": {"d": 1}}, {"a": None, "b": [3], "c": {"e": 2}}) == {
        "b": [3],
        "c": {"d": 1, "e": 2},
    }
