"""Reading and writing resources as models."""

from __future__ import annotations

import copy
from datetime import timedelta
from typing import Any

import pytest

from convoy.api.cluster import Cluster
from convoy.api.errors import Unsupported
from convoy.api.release import Release
from tests.unit.api import full


def test_null_means_not_set() -> None:
    tree = full.release() | {"mutations": None, "lifecycle": None, "pin": None, "status": None}
    release = Release.read(tree)
    assert (release.mutations, release.lifecycle.pre_sync, release.pin) == ((), (), None)
    assert release.status.conditions == ()


def test_a_null_in_a_json_patch_stays() -> None:
    patch = [{"op": "add", "path": "/a", "value": None}, {"op": "remove", "path": "/b"}]
    release = Release.read(full.release() | {"mutations": [{"patch": patch}]})
    assert release.tree()["mutations"] == [{"patch": patch}]


def test_an_unknown_phase_of_a_newer_convoy_is_read() -> None:
    status = full.release_status()
    status["waves"][0]["phase"] = "Pondering"
    status["surprise"] = {"a": 1}
    release = Release.read(full.release() | {"status": status})
    assert release.status.waves[0].phase == "Pondering"


def test_what_is_not_set_is_not_written() -> None:
    tree: dict[str, Any] = {"spec": {"inCluster": {}}}
    assert Cluster.read(tree).tree() == tree


def test_defaults_are_those_of_the_documentation() -> None:
    tree = full.release()
    tree["spec"] = {
        "clusterRef": {"name": "c"},
        "source": {"inline": {"files": {}}},
        "content": {"manifests": {}},
    }
    spec = Release.read({"spec": tree["spec"]}).spec
    assert spec.sync_policy.automatic is None
    assert spec.sync_policy.interval is None
    assert (spec.suspend, spec.cluster_wave, spec.history_limit) == (False, 0, 10)
    assert (spec.content.path, spec.content.allow_empty) == (".", False)
    assert spec.sync_policy.prune.model_dump() == {
        "orphaned": False,
        "after_healthy": False,
        "max_percent": 100,
    }
    assert spec.sync_policy.on_delete == "Orphan"
    cluster = Cluster.read({"spec": {"inCluster": {}}}).spec
    assert (cluster.connect_timeout, cluster.request_timeout) == (
        timedelta(seconds=5),
        timedelta(seconds=30),
    )
    assert cluster.max_in_flight == 32


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "a negative interval": (
        {"syncPolicy": {"interval": "-5m"}},
        "spec.syncPolicy.interval: '-5m' is no duration",
    ),
    "an interval that is a number": (
        {"syncPolicy": {"interval": 5}},
        "spec.syncPolicy.interval: a duration is",
    ),
    "an interval of a century": (
        {"syncPolicy": {"interval": "876000h"}},
        "spec.syncPolicy.interval: '876000h' is longer than 8760h0m0s",
    ),
    "a max below initial": (
        {"syncPolicy": {"retryBackoff": {"initial": "5s", "max": "1s"}}},
        "spec.syncPolicy.retryBackoff: max must not be below initial",
    ),
    "two sources": (
        {"source": {"inline": {"files": {}}, "configMap": {"name": "x"}}},
        "spec.source: exactly one of git, oci, helm, http, configMap, inline must be set",
    ),
    "two git refs": (
        {"source": {"git": {"url": "x", "ref": {"tag": "a", "branch": "b"}}}},
        "spec.source.git.ref: at most one of branch, tag, semver, commit may be set",
    ),
    "a bad entry of a list": (
        {"syncWaves": [{"wave": 1}, {"wave": "x"}]},
        "spec.syncWaves[1].wave: Input should be a valid integer",
    ),
}


@pytest.mark.parametrize("sentence", BAD)
def test_reading_names_the_field_of(sentence: str) -> None:
    change, message = BAD[sentence]
    tree = copy.deepcopy(full.release())
    tree["spec"] |= change
    with pytest.raises(Unsupported) as refused:
        Release.read(tree)
    assert message in refused.value.message


def test_hooks_of_one_name_are_refused() -> None:
    hook = {"name": "a", "job": {}}
    with pytest.raises(Unsupported, match=r"lifecycle: the names of hooks must differ"):
        Release.read(full.release() | {"lifecycle": {"preSync": [hook], "postSync": [hook]}})


def test_no_value_of_the_release_is_in_the_message() -> None:
    tree = full.release()
    tree["spec"]["source"] = {"inline": {"files": {"secret.yaml": ["hunter2"]}}}
    with pytest.raises(Unsupported) as refused:
        Release.read(tree)
    assert "spec.source.inline.files.secret.yaml" in refused.value.message
    assert "hunter2" not in refused.value.message


@pytest.mark.parametrize(
    "path",
    [
        "/kind",
        "/apiVersion",
        "/metadata",
        "/metadata/name",
        "/metadata/namespace",
        "/metadata/uid",
        "/kind/x",
    ],
)
def test_what_says_which_object_it_is_cannot_be_ignored(path: str) -> None:
    tree = full.release()
    tree["spec"]["ignoreDifferences"] = [{"kind": "ConfigMap", "paths": ["/data", path]}]
    with pytest.raises(
        Unsupported, match=r"spec\.ignoreDifferences\[0\]\.paths\[1\]: names the object itself"
    ):
        Release.read(tree)


@pytest.mark.parametrize(
    "path", ["/metadata/labels/a", "/metadata/annotations", "/metadata/finalizers/0", "/kinds", "/spec/kind"]
)
def test_other_fields_can_be_ignored(path: str) -> None:
    tree = full.release()
    tree["spec"]["ignoreDifferences"] = [{"kind": "ConfigMap", "paths": [path]}]
    assert Release.read(tree).spec.ignore_differences[0].paths == (path,)
