"""What a real API server answers is told apart by what it means, not by its status code."""

from __future__ import annotations

import secrets
from typing import Any

import pytest

from convoy.kube.client import KubeClient
from convoy.kube.encode import apply_body
from convoy.kube.errors import (
    AlreadyExists,
    ApiError,
    Conflict,
    Invalid,
    KindUnknown,
    NamespaceMissing,
    NamespaceTerminating,
    NotFound,
    Rejected,
    UidMismatch,
)
from convoy.kube.resources import CONFIG_MAPS, NAMESPACES, SECRETS, Resource
from tests.waiting import eventually

DEPLOYMENTS = Resource("apps", "v1", "Deployment", "deployments", True)
POLICIES = Resource(
    "admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy", "validatingadmissionpolicies", False
)
BINDINGS = Resource(
    "admissionregistration.k8s.io",
    "v1",
    "ValidatingAdmissionPolicyBinding",
    "validatingadmissionpolicybindings",
    False,
)
STRANGER = "11111111-1111-1111-1111-111111111111"


def manifest(resource: Resource, namespace: str, **fields: Any) -> dict[str, Any]:
    metadata = {"name": "it", "namespace": namespace, **fields.pop("metadata", {})}
    return {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, **fields}


def deployment(namespace: str, *, label: str = "a", **container: Any) -> dict[str, Any]:
    return manifest(
        DEPLOYMENTS,
        namespace,
        spec={
            "replicas": 0,
            "selector": {"matchLabels": {"app": label}},
            "template": {
                "metadata": {"labels": {"app": label}},
                "spec": {"containers": [{"name": "c", "image": "fake.local/ready:1", **container}]},
            },
        },
    )


async def refusal(home: KubeClient, resource: Resource, tree: dict[str, Any], **options: Any) -> ApiError:
    metadata = tree["metadata"]
    with pytest.raises(ApiError) as caught:
        await home.apply(apply_body(tree), resource, metadata.get("namespace"), metadata["name"], **options)
    return caught.value


async def test_a_list_key_given_twice_is_the_users_fault(home: KubeClient, namespace: str) -> None:
    twice = [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]
    error = await refusal(home, DEPLOYMENTS, deployment(namespace, env=twice), dry_run=True)
    assert type(error) is Invalid
    assert error.status == 500
    assert error.causes[0].field == 'spec.template.spec.containers[name="c"].env'
    assert error.is_users_fault
    assert not error.is_retryable


async def test_an_undeclared_field_is_the_users_fault(home: KubeClient, namespace: str) -> None:
    error = await refusal(home, DEPLOYMENTS, deployment(namespace, imagee="x"), dry_run=True)
    assert type(error) is Invalid
    assert error.message.endswith(".imagee: field not declared in schema")


async def test_a_value_that_cannot_be_decoded_is_the_users_fault(home: KubeClient, namespace: str) -> None:
    tree = manifest(SECRETS, namespace, data={"key": "no base64!"})
    error = await refusal(home, SECRETS, tree, dry_run=True)
    assert type(error) is Invalid
    assert error.message == "error decoding from json: illegal base64 data at input byte 2"


async def test_a_field_that_must_not_change_is_named(home: KubeClient, namespace: str) -> None:
    await home.apply(apply_body(deployment(namespace)), DEPLOYMENTS, namespace, "it")
    error = await refusal(home, DEPLOYMENTS, deployment(namespace, label="b"), dry_run=True)
    assert type(error) is Invalid
    assert [cause.field for cause in error.causes] == ["spec.selector"]


async def test_a_missing_namespace_is_told_from_a_missing_object(home: KubeClient, namespace: str) -> None:
    absent = f"{namespace}-absent"
    error = await refusal(home, CONFIG_MAPS, manifest(CONFIG_MAPS, absent))
    assert type(error) is NamespaceMissing
    assert error.message == f"namespace {absent} does not exist"
    for resource, where, name in ((CONFIG_MAPS, namespace, "absent"), (NAMESPACES, None, absent)):
        with pytest.raises(NotFound) as caught:
            await home.get(resource, where, name)
        assert type(caught.value) is NotFound


@pytest.mark.parametrize(
    "resource",
    [
        Resource("nobody.example.org", "v1", "Foo", "foos", True),
        Resource("apps", "v1", "Foo", "foos", True),
        Resource("apps", "v1beta1", "Deployment", "deployments", True),
    ],
    ids=["group", "kind", "version"],
)
async def test_what_the_cluster_does_not_serve_is_an_unknown_kind(
    home: KubeClient, namespace: str, resource: Resource
) -> None:
    error = await refusal(home, resource, manifest(resource, namespace))
    assert type(error) is KindUnknown
    assert resource.kind in error.message
    assert resource.group in error.message


async def test_a_namespace_that_is_being_deleted_is_retried_but_rejected(
    home: KubeClient, namespace: str
) -> None:
    doomed = f"{namespace}-doomed"
    finalizer = {"metadata": {"finalizers": ["example.org/stay"]}}
    await home.apply(
        apply_body({**manifest(NAMESPACES, ""), "metadata": {"name": doomed}}), NAMESPACES, None, doomed
    )
    await home.patch(NAMESPACES, None, doomed, finalizer)
    await home.delete(NAMESPACES, None, doomed)
    error = await refusal(home, CONFIG_MAPS, manifest(CONFIG_MAPS, doomed))
    await home.patch(NAMESPACES, None, doomed, {"metadata": {"finalizers": None}})
    assert type(error) is NamespaceTerminating
    assert error.is_users_fault
    assert error.is_retryable


async def test_a_stale_version_is_a_conflict(home: KubeClient, namespace: str) -> None:
    await home.apply(apply_body(manifest(CONFIG_MAPS, namespace)), CONFIG_MAPS, namespace, "it")
    error = await refusal(
        home, CONFIG_MAPS, manifest(CONFIG_MAPS, namespace, metadata={"resourceVersion": "1"})
    )
    assert type(error) is Conflict
    assert error.is_retryable


@pytest.mark.parametrize("dry_run", [True, False])
async def test_an_object_of_another_uid_is_no_target_of_an_apply(
    home: KubeClient, namespace: str, dry_run: bool
) -> None:
    tree = manifest(CONFIG_MAPS, namespace, metadata={"uid": STRANGER})
    missing = await refusal(home, CONFIG_MAPS, tree, dry_run=dry_run)
    await home.apply(apply_body(manifest(CONFIG_MAPS, namespace)), CONFIG_MAPS, namespace, "it")
    other = await refusal(home, CONFIG_MAPS, tree, dry_run=dry_run)
    assert (type(missing), type(other)) == (UidMismatch, UidMismatch)
    assert not missing.is_retryable


async def test_a_delete_spares_an_object_of_another_uid(home: KubeClient, namespace: str) -> None:
    await home.apply(apply_body(manifest(CONFIG_MAPS, namespace)), CONFIG_MAPS, namespace, "it")
    with pytest.raises(UidMismatch):
        await home.delete(CONFIG_MAPS, namespace, "it", uid=STRANGER)
    live = await home.get(CONFIG_MAPS, namespace, "it")
    await home.delete(CONFIG_MAPS, namespace, "it", uid=live["metadata"]["uid"])
    with pytest.raises(NotFound):
        await home.delete(CONFIG_MAPS, namespace, "it")


async def test_a_second_create_finds_the_object_there(home: KubeClient, namespace: str) -> None:
    await home.create(manifest(CONFIG_MAPS, namespace), CONFIG_MAPS)
    with pytest.raises(AlreadyExists):
        await home.create(manifest(CONFIG_MAPS, namespace), CONFIG_MAPS)


async def test_a_body_that_is_too_large_is_the_users_fault(home: KubeClient, namespace: str) -> None:
    for size in (1_200_000, 4_000_000):
        error = await refusal(home, CONFIG_MAPS, manifest(CONFIG_MAPS, namespace, data={"k": "x" * size}))
        assert isinstance(error, Rejected)


async def test_what_the_custom_resource_machinery_cannot_take_is_the_users_fault(
    home: KubeClient, namespace: str, custom: Resource
) -> None:
    for fields in ({"items": [{"a": 1}]}, {"spec": [1]}, {"spec": {"a": "x" * 1_700_000}}):
        error = await refusal(home, custom, manifest(custom, namespace, **fields))
        assert isinstance(error, Rejected), error.message


async def test_a_name_that_is_not_that_of_the_path_is_the_users_fault(
    home: KubeClient, namespace: str
) -> None:
    body = apply_body(manifest(CONFIG_MAPS, namespace, metadata={"name": "other"}))
    with pytest.raises(Rejected):
        await home.apply(body, CONFIG_MAPS, namespace, "it")


async def test_a_denial_by_an_admission_policy_is_the_users_fault(home: KubeClient, namespace: str) -> None:
    policy = f"deny-{secrets.token_hex(4)}"
    selector = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    rules = [
        {
            "apiGroups": [""],
            "apiVersions": ["v1"],
            "operations": ["CREATE"],
            "resources": ["configmaps", "secrets"],
        }
    ]
    await home.create(
        {
            "apiVersion": POLICIES.api_version,
            "kind": POLICIES.kind,
            "metadata": {"name": policy},
            "spec": {
                "failurePolicy": "Fail",
                "matchConstraints": {"namespaceSelector": selector, "resourceRules": rules},
                "validations": [
                    {"expression": "false", "messageExpression": "'denied: ' + string(object.data)"}
                ],
            },
        },
        POLICIES,
    )
    binding = {
        "apiVersion": BINDINGS.api_version,
        "kind": BINDINGS.kind,
        "metadata": {"name": policy},
        "spec": {"policyName": policy, "validationActions": ["Deny"]},
    }
    await home.create(binding, BINDINGS)
    try:
        tree = manifest(CONFIG_MAPS, namespace, data={"k": "v"})

        async def denial() -> ApiError | None:
            try:
                await home.apply(apply_body(tree), CONFIG_MAPS, namespace, "it", dry_run=True)
            except ApiError as caught:
                return caught
            return None

        error = await eventually(denial)
        secret = manifest(SECRETS, namespace, stringData={"k": "pear-blossom"})
        about_secret = await refusal(home, SECRETS, secret, dry_run=True)
    finally:
        await home.delete(BINDINGS, None, policy)
        await home.delete(POLICIES, None, policy)
    assert type(error) is Invalid
    assert policy in error.message
    assert policy in about_secret.message
    assert "pear-blossom" not in repr((about_secret.message, about_secret.causes))
    assert "cGVhci1ibG9zc29t" not in repr((about_secret.message, about_secret.causes))
