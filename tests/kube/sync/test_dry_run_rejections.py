"""The dry run reports every rejected object with the server's own causes, and changes nothing (D7, D10)."""

from __future__ import annotations

from typing import Any

import pytest

from convoy.api.errors import Unappliable
from convoy.api.objects import Manifest
from convoy.kube.connection import impersonating
from convoy.sync.dryrun import DryRun, dry_run
from tests.kube.sync.rig import Rig, render_of, retarget
from tests.rights import allow_config_maps
from tests.waiting import eventually


def deployment(rig: Rig, name: str, **changes: Any) -> Manifest:
    container: dict[str, Any] = {"name": "main", "image": "fake.local/ready:1"}
    spec: dict[str, Any] = {
        "selector": {"matchLabels": {"app": name}},
        "template": {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}},
    }
    container.update(changes.pop("container", {}))
    spec.update(changes)
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": rig.namespace},
        "spec": spec,
    }


def secret(rig: Rig, name: str, **more: Any) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": rig.namespace},
        **more,
    }


async def checked(rig: Rig, *manifests: Manifest) -> DryRun:
    return await dry_run(rig.target, render_of(*manifests))


def message(result: DryRun) -> str:
    with pytest.raises(Unappliable) as caught:
        result.raise_for_rejections()
    return caught.value.message


async def test_names_all_rejected_objects_in_render_order_and_no_other(rig: Rig) -> None:
    result = await checked(
        rig,
        deployment(rig, "otter", replica=2),
        rig.config_map("fine"),
        deployment(rig, "badger", template={"metadata": {"labels": {"app": "badger"}}, "spec": {}}),
    )
    assert [each.key.name for each in result.rejected] == ["otter", "badger"]
    text = message(result)
    for part in ("otter", "replica", "not declared", "badger", "containers", "Required value"):
        assert part in text
    assert "fine" not in text


async def test_changes_nothing_on_the_cluster(rig: Rig) -> None:
    box = rig.config_map()
    await checked(rig, box)
    assert await rig.get(box) is None


async def test_a_duplicate_list_key_is_the_users_fault(rig: Rig) -> None:
    env = [{"name": "TIDE", "value": "low"}, {"name": "MOON"}, {"name": "TIDE", "value": "high"}]
    text = message(await checked(rig, deployment(rig, "heron", container={"env": env})))
    for part in ("Deployment", "heron", "env", "TIDE"):
        assert part in text


async def test_a_wrong_type_is_the_users_fault(rig: Rig) -> None:
    assert "replicas" in message(await checked(rig, deployment(rig, "heron", replicas="many")))


@pytest.mark.parametrize(
    "content",
    [{"data": {"pin": 7043318862}}, {"data": {"pin": "7043318862 no base64!"}}, {"data": "7043318862"}],
)
async def test_no_value_of_a_secret_is_in_a_message(rig: Rig, content: dict[str, Any]) -> None:
    text = message(await checked(rig, secret(rig, "padlock", **content)))
    assert "padlock" in text
    assert "7043318862" not in text


async def test_a_changed_immutable_field_is_named_and_nothing_is_recreated(rig: Rig) -> None:
    service: Manifest = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "door", "namespace": rig.namespace},
        "spec": {"ports": [{"port": 80}]},
    }
    uid = (await rig.create(service))["metadata"]["uid"]
    service["spec"]["clusterIP"] = "None"
    text = message(await checked(rig, service))
    assert "clusterIP" in text
    assert await rig.uid(service) == uid


async def test_the_servers_cause_is_told_once_behind_the_template_that_it_prints(rig: Rig) -> None:
    container: dict[str, Any] = {"image": "fake.local/ready:1", "env": [{"name": "A", "value": "a" * 2000}]}
    pod: dict[str, Any] = {
        "restartPolicy": "Never",
        "containers": [{"name": f"c{number}", **container} for number in range(3)],
    }
    job: Manifest = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "migrate", "namespace": rig.namespace},
        "spec": {"template": {"spec": pod}},
    }
    await rig.create(job)
    pod["containers"][0]["image"] = "fake.local/ready:2"
    text = message(await checked(rig, job))
    assert text.count("field is immutable") == 1
    assert len(text) < 2000


async def test_an_object_of_a_namespace_that_nobody_makes_is_rejected(rig: Rig) -> None:
    box = rig.config_map()
    box["metadata"]["namespace"] = f"{rig.namespace}-nowhere"
    text = message(await checked(rig, box))
    assert "box" in text
    assert f"{rig.namespace}-nowhere" in text


async def test_an_object_of_a_namespace_being_deleted_is_rejected(rig: Rig) -> None:
    async with rig.terminating_namespace() as name:
        box = rig.config_map()
        box["metadata"]["namespace"] = name

        async def rejected() -> bool:
            return bool((await checked(rig, box)).rejected)

        await eventually(rejected)
        assert name in message(await checked(rig, box))


async def test_a_kind_of_which_the_cluster_keeps_no_objects_is_rejected(rig: Rig) -> None:
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "metadata": {"name": "may-jane"},
        "spec": {"user": "jane", "resourceAttributes": {"verb": "get", "resource": "pods"}},
    }
    result = await checked(rig, review, rig.config_map("fine"))
    assert [each.key.name for each in result.rejected] == ["may-jane"]
    assert "keeps no objects of this kind; it only offers: create" in message(result)


async def test_a_kind_that_the_identity_may_not_write_is_rejected(rig: Rig) -> None:
    user = f"{rig.id}-deployer"
    await allow_config_maps(rig.home, rig.namespace, user)
    async with impersonating(rig.home, user) as client:
        poor = retarget(rig.target, client)
        result = await dry_run(poor, render_of(rig.config_map(), secret(rig, "vault", data={"a": "Yg=="})))
    assert [each.key.name for each in result.rejected] == ["vault"]
    assert user in message(result)


async def test_a_policy_that_denies_is_a_rejection_with_its_message(rig: Rig) -> None:
    admission = "admissionregistration.k8s.io/v1"
    policy = {
        "apiVersion": admission,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": rig.id},
        "spec": {
            "matchConstraints": {
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": rig.namespace}},
                "resourceRules": [
                    {
                        "apiGroups": [""],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE"],
                        "resources": ["configmaps"],
                    }
                ],
            },
            "validations": [{"expression": "object.metadata.name != 'bad'", "message": "no bad maps here"}],
        },
    }
    binding = {
        "apiVersion": admission,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": rig.id},
        "spec": {"policyName": rig.id, "validationActions": ["Deny"]},
    }
    await rig.create(policy)
    await rig.create(binding)
    try:

        async def denied() -> bool:
            return bool((await checked(rig, rig.config_map("bad"))).rejected)

        await eventually(denied)
        text = message(await checked(rig, rig.config_map("bad"), rig.config_map("good")))
    finally:
        await rig.delete(binding)
        await rig.delete(policy)
    assert "no bad maps here" in text
    assert "good" not in text


async def test_an_object_of_one_mebibyte_is_checked(rig: Rig) -> None:
    result = await checked(rig, rig.config_map("hull", blob="x" * 900_000))
    assert result.rejected == ()


async def test_an_object_above_the_servers_limit_is_rejected(rig: Rig) -> None:
    result = await checked(rig, rig.config_map("hull", blob="x" * 1_100_000))
    assert "hull" in message(result)


async def test_a_render_copied_from_a_live_object_is_accepted(rig: Rig) -> None:
    live = await rig.create(rig.config_map("copy", a="b"))
    live["metadata"]["resourceVersion"] = "1"
    result = await checked(rig, live)
    assert result.rejected == ()
