"""kubectl finds the subresources, and still knows one kind of releases only."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from convoy.server.names import API_VERSION, GROUP, SUBRESOURCES
from tests.e2e.harness.convoy import Convoy
from tests.e2e.tenant import Tenant, config_map
from tests.waiting import eventually


async def kubectl(convoy: Convoy, *arguments: str, stdin: str = "") -> str:
    command: list[str | Path] = [
        convoy.stack.tool("kubectl"), "--kubeconfig", convoy.stack.kubeconfig,
        "--cache-dir", convoy.folder / "kubectl-cache", *arguments,
    ]  # fmt: skip
    done = await asyncio.to_thread(
        subprocess.run, command, input=stdin, check=True, capture_output=True, text=True
    )
    return done.stdout


async def test_both_forms_of_discovery_list_every_subresource(convoy: Convoy) -> None:
    legacy = json.loads(await kubectl(convoy, "get", "--raw", f"/apis/{API_VERSION}"))
    assert {each["name"] for each in legacy["resources"]} == {f"releases/{name}" for name in SUBRESOURCES}

    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

    async def resources() -> Any:
        answer = await convoy.home.request("GET", "/apis", accept=accept)
        groups = {each["metadata"]["name"]: each for each in json.loads(answer.body)["items"]}
        return GROUP in groups and groups[GROUP]["versions"][0]["resources"]

    parent = (await eventually(resources, "aggregated discovery"))[0]
    found = {each["subresource"]: set(each["verbs"]) for each in parent["subresources"]}
    assert set(found) == set(SUBRESOURCES)
    assert found["pin"] == {"get", "update", "delete"}


async def test_kubectl_knows_one_kind_of_releases(convoy: Convoy, tenant: Tenant) -> None:
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace)})

    names = await kubectl(convoy, "get", "releases", "-n", tenant.namespace, "-o", "name")

    assert names == "release.convoy.kumodo.io/app\n"


async def test_kubectl_explains_a_release_and_finds_the_openapi_document(convoy: Convoy) -> None:
    assert "clusterRef" in await kubectl(convoy, "explain", "releases.spec")

    async def entry() -> Any:
        index = json.loads(await kubectl(convoy, "get", "--raw", "/openapi/v3"))
        return index["paths"].get(f"apis/{API_VERSION}")

    url = (await eventually(entry, "the OpenAPI document"))["serverRelativeURL"]
    document = json.loads(await kubectl(convoy, "get", "--raw", url))
    assert set(document["components"]["schemas"]) >= {kind for kind, _ in SUBRESOURCES.values()}


async def test_plain_kubectl_can_call_a_subresource(convoy: Convoy, tenant: Tenant) -> None:
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace)}, policy={"automatic": False})
    path = f"/apis/{API_VERSION}/namespaces/{tenant.namespace}/releases/app/sync"

    answer = json.loads(await kubectl(convoy, "create", "--raw", path, "-f", "-", stdin="{}"))

    await tenant.applied("app")
    assert answer["kind"] == "ReleaseSync"


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("releases/app/nothing", 404),
        ("releases/app", 404),
        ("releases", 404),
        ("clusters/app/sync", 404),
        ("releases/app/sync/more", 404),
        ("releases/app/sync", 405),
        ("releases/missing/diff", 404),
    ],
)
async def test_what_is_not_there_is_told_by_a_status(convoy: Convoy, path: str, code: int) -> None:
    answer = await convoy.home.request("GET", f"/apis/{API_VERSION}/namespaces/default/{path}")

    tree = json.loads(answer.body)
    assert (answer.status, tree["kind"], tree["code"]) == (code, "Status", code)
