"""Fields that a later version acts on are answered with their path, never ignored."""

from __future__ import annotations

from typing import Any

import pytest

from convoy.api.errors import Unsupported
from convoy.api.release import Release
from convoy.api.unsupported import refuse_unsupported, unsupported_fields
from tests.unit.api import full

SPEC: dict[str, Any] = {
    "clusterRef": {"name": "c"},
    "source": {"inline": {"files": {}}},
    "content": {"manifests": {}},
}


def _fields(spec: dict[str, Any] | None = None, **top: Any) -> list[str]:
    return unsupported_fields(Release.read({"spec": SPEC | (spec or {})} | top))


def test_a_plain_release_has_none() -> None:
    assert _fields() == []


def test_what_is_built_is_not_refused() -> None:
    policy = full.release()["spec"]["syncPolicy"]
    policy["prune"]["afterHealthy"] = True
    built = {
        "syncPolicy": policy,
        "clusterWave": 3,
        "suspend": True,
        "ignoreDifferences": full.release()["spec"]["ignoreDifferences"],
        "syncWaves": [{"wave": 1, "strategy": "Apply"}, {"wave": 2, "strategy": "Health"}],
        "healthChecks": [{"kind": "X", "healthy": "true"}],
        "failurePolicy": {"action": "Rollback"},
        "historyLimit": 3,
    }
    assert _fields(built, mutations=full.release()["mutations"]) == []


def test_empty_lists_and_false_are_not_set() -> None:
    empty = {"healthChecks": [], "syncPolicy": {"prune": {"afterHealthy": False}}}
    assert _fields(empty, mutations=[], lifecycle={"preSync": [], "postSync": []}) == []


def test_each_field_is_named_by_its_path() -> None:
    tree = full.release()
    assert unsupported_fields(Release.read(tree)) == [
        "lifecycle.preSync",
        "lifecycle.postSync",
    ]


def test_the_answer_is_unsupported() -> None:
    hooks = {"postSync": [{"name": "smoke", "approval": {}}]}
    with pytest.raises(Unsupported, match=r"lifecycle\.postSync"):
        refuse_unsupported(Release.read({"spec": SPEC, "lifecycle": hooks}))
