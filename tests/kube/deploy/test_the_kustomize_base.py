"""deploy/kubernetes on a real API server: it is accepted as it is, and its roles allow what convoy does and no more."""

from __future__ import annotations

import secrets
import shutil
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from convoy.api.names import GROUP
from convoy.api.objects import Manifest, split_api_version
from convoy.kube.client import KubeClient
from convoy.kube.connection import connect_kubeconfig
from convoy.kube.discovery import Discovery
from convoy.kube.encode import apply_body, decode, encode
from convoy.kube.errors import NamespaceMissing
from deploy.stack.local import Stack
from tests.waiting import eventually

DEPLOY = Path(__file__).resolve().parents[3] / "deploy"
BASE = DEPLOY / "kubernetes" / "base"
CONVOY = "system:serviceaccount:{namespace}:convoy"
TENANT = "tenant"


def build(stack: Stack, folder: Path = BASE) -> list[Manifest]:
    command: list[str | Path] = [stack.tool("kustomize"), "build", folder]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [document for document in yaml.safe_load_all(done.stdout) if document]


@pytest.fixture
async def home(stack: Stack) -> AsyncIterator[KubeClient]:
    async with await connect_kubeconfig(stack.kubeconfig) as client:
        yield client


async def apply(home: KubeClient, manifest: Manifest, *, dry_run: bool = False) -> None:
    group, version = split_api_version(manifest["apiVersion"])
    resource = await Discovery(home).resource_for(group, manifest["kind"], version)
    metadata = manifest["metadata"]
    await home.apply(
        apply_body(manifest),
        resource,
        metadata.get("namespace"),
        metadata["name"],
        manager="convoy-test",
        dry_run=dry_run,
    )


async def test_the_api_server_accepts_every_object(stack: Stack, home: KubeClient) -> None:
    for manifest in build(stack):
        try:
            await apply(home, manifest, dry_run=True)
        except NamespaceMissing:
            # A dry run makes no namespace. The object is checked in one that is there.
            manifest["metadata"]["namespace"] = "default"
            await apply(home, manifest, dry_run=True)


def test_the_right_to_impersonate_comes_only_with_its_component(stack: Stack, tmp_path: Path) -> None:
    for folder in ("crds", "kubernetes"):
        shutil.copytree(DEPLOY / folder, tmp_path / folder)
    overlay = {"resources": ["kubernetes/base"], "components": ["kubernetes/impersonation"]}
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(overlay), encoding="utf-8")

    plain = {(each["kind"], each["metadata"]["name"]) for each in build(stack)}
    more = {(each["kind"], each["metadata"]["name"]) for each in build(stack, tmp_path)}

    assert more - plain == {
        ("ClusterRole", "convoy-impersonation"),
        ("ClusterRoleBinding", "convoy-impersonation"),
    }


@pytest.fixture
async def roles(stack: Stack, home: KubeClient, namespace: str) -> AsyncIterator[str]:
    """The roles and bindings of the base under names of the test's own; returns the namespace that is convoy's."""
    mark = secrets.token_hex(4)
    made: list[Manifest] = []
    for manifest in build(stack):
        if not manifest["apiVersion"].startswith("rbac."):
            continue
        manifest["metadata"]["name"] += f"-{mark}"
        if "namespace" in manifest["metadata"]:
            manifest["metadata"]["namespace"] = namespace
        if "roleRef" in manifest:
            manifest["roleRef"]["name"] += f"-{mark}"
            manifest["subjects"][0]["namespace"] = namespace
        await apply(home, manifest)
        made.append(manifest)
    await apply(home, tenant_binding(namespace))
    yield namespace
    for manifest in made:
        if "namespace" not in manifest["metadata"]:
            resource = await Discovery(home).resource_for("rbac.authorization.k8s.io", manifest["kind"])
            await home.delete(resource, None, manifest["metadata"]["name"])


def tenant_binding(namespace: str) -> Manifest:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "tenant", "namespace": namespace},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "admin"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": TENANT}],
    }


async def may(home: KubeClient, user: str, line: str, *, namespace: str = "") -> bool:
    """`verb group/resource[/subresource] [name]`, asked as a SubjectAccessReview."""
    verb, what, *name = line.split()
    group, resource, *sub = what.split("/")
    attributes: dict[str, Any] = {"verb": verb, "group": group, "resource": resource, "namespace": namespace}
    attributes |= {"subresource": sub[0]} if sub else {}
    attributes |= {"name": name[0]} if name else {}
    groups = ["system:authenticated"]
    answer = await home.request(
        "POST",
        "/apis/authorization.k8s.io/v1/subjectaccessreviews",
        body=encode({"spec": {"user": user, "groups": groups, "resourceAttributes": attributes}}),
        content_type="application/json",
    )
    assert answer.status == 201, answer.body
    allowed: bool = decode(answer.body)["status"]["allowed"]
    return allowed


async def allowed(home: KubeClient, user: str, lines: list[str], *, namespace: str = "") -> list[str]:
    return [line for line in lines if await may(home, user, line, namespace=namespace)]


async def until_allowed(home: KubeClient, user: str, lines: list[str], *, namespace: str = "") -> None:
    """The authoriser learns of roles a moment after they were made."""

    async def all_of_them() -> bool:
        return await allowed(home, user, lines, namespace=namespace) == lines

    await eventually(all_of_them, f"leave for {user} to {lines}")


EVERYWHERE = [
    *(f"{verb} {GROUP}/releases" for verb in ("get", "list", "watch", "patch")),
    *(f"{verb} {GROUP}/clusters" for verb in ("get", "list", "patch")),
    *(f"{verb} {GROUP}/releaseinventories" for verb in ("get", "list", "watch", "create", "patch", "delete")),
    f"patch {GROUP}/releases/status",
    f"patch {GROUP}/clusters/status",
    f"update {GROUP}/releases/finalizers",
    "get /secrets",
    "patch /secrets",
    "get /configmaps",
    "get /namespaces kube-system",
    *(f"{verb} events.k8s.io/events" for verb in ("create", "get", "patch")),
]
AT_HOME = ["create /secrets", *(f"{verb} coordination.k8s.io/leases" for verb in ("create", "get", "patch"))]
NEVER = [
    "list /secrets",
    "delete /secrets",
    "create /secrets",
    "create /configmaps",
    "create /pods",
    "patch apps/deployments",
    "get /namespaces default",
    "impersonate /serviceaccounts",
    "escalate rbac.authorization.k8s.io/clusterroles",
    f"create {GROUP}/releases",
    f"delete {GROUP}/releases",
    f"create {GROUP}/clusters",
    f"delete {GROUP}/clusters",
    f"deletecollection {GROUP}/releaseinventories",
]


async def test_convoy_may_do_what_it_does(home: KubeClient, roles: str) -> None:
    user = CONVOY.format(namespace=roles)
    await until_allowed(home, user, EVERYWHERE)
    await until_allowed(home, user, AT_HOME, namespace=roles)


async def test_convoy_may_do_nothing_else(home: KubeClient, roles: str) -> None:
    user = CONVOY.format(namespace=roles)
    await until_allowed(home, user, EVERYWHERE)
    assert await allowed(home, user, NEVER, namespace="default") == []


async def test_the_admin_of_a_namespace_has_releases_and_clusters(home: KubeClient, roles: str) -> None:
    wanted = [
        f"{verb} {GROUP}/{plural}"
        for plural in ("releases", "clusters")
        for verb in ("get", "list", "watch", "create", "update", "patch", "delete")
    ]
    await until_allowed(home, TENANT, wanted, namespace=roles)


async def test_nobody_but_convoy_writes_inventories(home: KubeClient, roles: str) -> None:
    read = [f"{verb} {GROUP}/releaseinventories" for verb in ("get", "list", "watch")]
    await until_allowed(home, TENANT, read, namespace=roles)

    write = [
        f"{verb} {GROUP}/{plural}"
        for plural in ("releaseinventories", "releaseinventories/status")
        for verb in ("create", "update", "patch", "delete", "deletecollection")
    ]
    assert await allowed(home, TENANT, write, namespace=roles) == []


async def test_tenants_write_no_status(home: KubeClient, roles: str) -> None:
    await until_allowed(home, TENANT, [f"create {GROUP}/releases"], namespace=roles)
    write = [f"{verb} {GROUP}/releases/status" for verb in ("update", "patch")]
    assert await allowed(home, TENANT, write, namespace=roles) == []
