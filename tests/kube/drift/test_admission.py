"""Admission is on both sides of the compare, so what it changes is no drift, and what it denies is an error."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from convoy.api.objects import Manifest
from convoy.drift.results import DriftStatus
from convoy.kube.errors import Rejected
from tests.kube.drift.rig import Rig, pointers
from tests.waiting import eventually


def _match(rig: Rig) -> dict[str, Any]:
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE", "UPDATE"],
        "resources": ["configmaps"],
    }
    only = {"matchLabels": {"kubernetes.io/metadata.name": rig.namespace}}
    return {"resourceRules": [rule], "namespaceSelector": only}


async def _install(rig: Rig, group_version: str, kind: str, spec: dict[str, Any]) -> list[Manifest]:
    name = f"drift-{rig.id}"
    policy = {"apiVersion": group_version, "kind": kind, "metadata": {"name": name}, "spec": spec}
    bound: dict[str, Any] = {"policyName": name}
    if kind == "ValidatingAdmissionPolicy":
        bound["validationActions"] = ["Deny"]
    binding = {**policy, "kind": f"{kind}Binding", "spec": bound}
    await rig.apply(policy)
    await rig.apply(binding)
    return [binding, policy]


@pytest.fixture
async def labelling(rig: Rig) -> AsyncIterator[Rig]:
    """A policy that labels each ConfigMap of the namespace and rewrites its key `casing`."""
    expression = (
        'Object{metadata: Object.metadata{labels: {"team": "night"}}, '
        'data: {"casing": object.data["casing"].upperAscii()}}'
    )
    mutation = {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}
    spec = {
        "matchConstraints": _match(rig),
        "mutations": [mutation],
        "failurePolicy": "Fail",
        "reinvocationPolicy": "Never",
    }
    group_version = "admissionregistration.k8s.io/v1beta1"
    installed = await _install(rig, group_version, "MutatingAdmissionPolicy", spec)
    probe = rig.config_map("probe", casing="a")

    async def in_force() -> bool:
        return (await rig.apply(probe))["metadata"].get("labels") is not None

    await eventually(in_force)
    yield rig
    for manifest in installed:
        await rig.delete(manifest)


@pytest.fixture
async def forbidding(rig: Rig) -> AsyncIterator[Rig]:
    """A policy that denies ConfigMaps of the namespace with the key `forbidden`."""
    spec = {
        "matchConstraints": _match(rig),
        "validations": [{"expression": "!('forbidden' in object.data)", "message": "no forbidden keys here"}],
    }
    installed = await _install(rig, "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", spec)
    probe = rig.config_map("probe", forbidden="x")

    async def in_force() -> bool:
        try:
            await rig.apply(probe)
        except Rejected:
            return True
        return False

    await eventually(in_force)
    yield rig
    for manifest in installed:
        await rig.delete(manifest)


async def test_what_a_mutating_policy_sets_is_no_drift(labelling: Rig) -> None:
    manifest = labelling.config_map(casing="low")
    assert (await labelling.apply(manifest))["data"]["casing"] == "LOW"
    assert (await labelling.compare(manifest)).status is DriftStatus.IN_SYNC


async def test_a_change_beside_what_a_policy_sets_is_drift_alone(labelling: Rig) -> None:
    manifest = labelling.config_map(casing="low", k="v")
    await labelling.apply(manifest)
    await labelling.edit(manifest, {"data": {"k": "other"}})
    assert pointers(await labelling.compare(manifest)) == ["/data/k"]


async def test_a_validating_policy_that_accepts_changes_nothing(forbidding: Rig) -> None:
    manifest = forbidding.config_map(k="v")
    await forbidding.apply(manifest)
    assert (await forbidding.compare(manifest)).status is DriftStatus.IN_SYNC


async def test_a_denied_dry_run_is_an_error_with_the_policys_words(forbidding: Rig) -> None:
    await forbidding.apply(forbidding.config_map(k="v"))
    with pytest.raises(Rejected, match="no forbidden keys here"):
        await forbidding.compare(forbidding.config_map(forbidden="x"))
