"""The order of Releases on one Cluster: whom a Release waits for."""

from __future__ import annotations

from typing import Any

import pytest

from convoy.policy.cluster_waves import blocking_release
from tests.unit.policy.releases import conditions, release, tree

LEFT_APPLIED = {"lastSuccessful": {"renderRef": "r"}, "lastAttempted": {"reason": "Applied"}}
LEFT_FAILED = {"lastSuccessful": {"renderRef": "r"}, "lastAttempted": {"reason": "DeployFailed"}}

BLOCKS: dict[str, tuple[dict[str, Any], str | None]] = {
    "one that is Applied blocks while its health is not known": (
        {"status": conditions("True")},
        "Healthy is not set",
    ),
    "one that is Applied and Healthy does not block": ({"status": conditions("True", "True")}, None),
    "one that is not Applied blocks": ({"status": conditions("False")}, "Applied is False (Because)"),
    "one that is Applied and not Healthy blocks": (
        {"status": conditions("True", "False")},
        "Healthy is False (Because)",
    ),
    "one whose health cannot be told blocks": (
        {"status": conditions("True", "Unknown")},
        "Healthy is Unknown (Because)",
    ),
    "one that was never reconciled blocks": ({}, "its present spec is not reconciled yet"),
    "one whose new spec is not reconciled yet blocks": (
        {"status": conditions("True"), "metadata": {"generation": 2}},
        "its present spec is not reconciled yet",
    ),
    "one of the same wave does not block": ({"clusterWave": 1}, None),
    "one of a higher wave does not block": ({"clusterWave": 2}, None),
    "one of a negative wave blocks": ({"clusterWave": -5}, "its present spec is not reconciled yet"),
    "one of another Cluster does not block": ({"clusterRef": {"name": "other"}}, None),
    "one of another namespace does not block": ({"metadata": {"namespace": "x"}}, None),
    "one that is being deleted does not block": ({"metadata": {"deletionTimestamp": "2026"}}, None),
    "a suspended one that was left applied and healthy does not block": (
        {"suspend": True, "status": conditions("False", "True") | LEFT_APPLIED},
        None,
    ),
    "a suspended one that was left failed blocks": (
        {"suspend": True, "status": conditions("False") | LEFT_FAILED},
        "it was suspended before it was applied and healthy; resume or delete it",
    ),
    "a suspended one that was never applied blocks": (
        {"suspend": True},
        "it was suspended before it was applied and healthy; resume or delete it",
    ),
    "a suspended one that was left applied and not healthy blocks": (
        {"suspend": True, "status": conditions("False", "False") | LEFT_APPLIED},
        "it was suspended before it was applied and healthy; resume or delete it",
    ),
}


@pytest.mark.parametrize("sentence", BLOCKS)
def test_a_release_of_cluster_wave_1_and(sentence: str) -> None:
    arguments, why = BLOCKS[sentence]
    arguments = {"clusterWave": 0} | arguments
    blocker = blocking_release(release(clusterWave=1), [release("base", **arguments)])
    if why is None:
        assert blocker is None
    else:
        assert blocker is not None
        assert blocker.name == "base"
        assert blocker.message == (
            f"waits for Release team/base of cluster wave {arguments['clusterWave']}: {why}"
        )


def test_the_lowest_one_is_named_first_and_names_decide_between_equals() -> None:
    siblings = [release(name, clusterWave=wave) for name, wave in (("c", 1), ("b", 0), ("a", 0))]
    blocker = blocking_release(release(clusterWave=2), siblings)
    assert blocker is not None
    assert blocker.name == "a"


def test_a_release_does_not_wait_for_itself() -> None:
    assert blocking_release(release(clusterWave=1), [release(clusterWave=1)]) is None


def test_without_a_wave_a_release_is_of_wave_0() -> None:
    assert "clusterWave" not in tree()["spec"]
    assert blocking_release(release(), [release("base")]) is None
    assert blocking_release(release(), [release("base", clusterWave=-1)]) is not None
