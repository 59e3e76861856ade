"""Kinds are found in two requests, and asked for again only when one is not known."""

from __future__ import annotations

from collections import Counter

import pytest
from aiohttp import web

from convoy.api.objects import ObjectKey
from convoy.kube.client import KubeClient
from convoy.kube.discovery import Discovery
from convoy.kube.errors import KindUnknown, ScopeChanged, ServerFault
from convoy.kube.resources import Resource
from tests.kube.client.conftest import client_of
from tests.kube.client.proxy import FaultyProxy


async def test_a_kind_is_found_in_its_preferred_version(home: KubeClient) -> None:
    discovery = Discovery(home)
    deployment = await discovery.resource_for("apps", "Deployment")
    assert (deployment.version, deployment.plural, deployment.namespaced) == ("v1", "deployments", True)
    assert "patch" in deployment.verbs
    assert (await discovery.resource_for("", "Namespace", "v1")).namespaced is False
    assert await discovery.namespaced("rbac.authorization.k8s.io", "ClusterRole") is False
    assert await discovery.namespaced("example.org", "Nothing") is None


async def test_many_kinds_cost_two_requests(proxy: FaultyProxy) -> None:
    discovery = Discovery(proxy.client)
    for _ in range(5):
        await discovery.resource_for("apps", "Deployment")
        await discovery.resource_for("", "Secret")
    assert proxy.listed == 2


async def test_an_unknown_kind_costs_one_refresh_and_is_remembered(proxy: FaultyProxy) -> None:
    discovery = Discovery(proxy.client)
    await discovery.resource_for("", "Secret")
    for _ in range(5):
        with pytest.raises(KindUnknown, match=r"the cluster does not know the kind Foo.apps"):
            await discovery.resource_for("apps", "Foo")
    assert proxy.listed == 4


async def test_a_version_that_is_not_served_is_unknown(home: KubeClient) -> None:
    with pytest.raises(KindUnknown, match="in version v1beta1"):
        await Discovery(home).resource_for("apps", "Deployment", "v1beta1")


async def test_a_kind_that_comes_later_is_found_after_a_refresh(home: KubeClient, custom: Resource) -> None:
    discovery = Discovery(home)
    discovery._unknown[(custom.group, custom.kind, None)] = float("inf")
    await discovery.refresh()
    assert await discovery.resource_for(custom.group, custom.kind) == custom


async def test_an_unchanged_document_is_not_sent_again() -> None:
    answered: Counter[int] = Counter()

    async def handler(request: web.Request) -> web.StreamResponse:
        unchanged = request.headers.get("If-None-Match") == '"1"'
        answered[304 if unchanged else 200] += 1
        document = {
            "kind": "APIGroupDiscoveryList",
            "items": [
                {
                    "metadata": {"name": "" if request.path == "/api" else "example.org"},
                    "versions": [
                        {
                            "version": "v1",
                            "resources": [{"resource": "foos", "responseKind": {"kind": "Foo"}}],
                        }
                    ],
                }
            ],
        }
        headers = {"ETag": '"1"'}
        return web.Response(status=304) if unchanged else web.json_response(document, headers=headers)

    async with client_of(handler) as client:
        discovery = Discovery(client)
        await discovery.refresh()
        await discovery.refresh()
        assert (await discovery.resource_for("example.org", "Foo")).plural == "foos"
    assert answered == {200: 2, 304: 2}


LEGACY = {
    "/api": {"kind": "APIVersions", "versions": ["v1"]},
    "/apis": {
        "kind": "APIGroupList",
        "groups": [
            {"name": "apps", "versions": [{"version": "v1"}, {"version": "v1beta1"}]},
            {"name": "down.example.org", "versions": [{"version": "v1"}]},
        ],
    },
    "/api/v1": {
        "kind": "APIResourceList",
        "resources": [
            {"name": "pods", "kind": "Pod", "namespaced": True, "verbs": ["get", "patch"]},
            {"name": "pods/log", "kind": "Pod", "namespaced": True, "verbs": ["get"]},
        ],
    },
    "/apis/apps/v1": {
        "kind": "APIResourceList",
        "resources": [{"name": "deployments", "kind": "Deployment", "namespaced": True, "verbs": ["get"]}],
    },
    "/apis/apps/v1beta1": {
        "kind": "APIResourceList",
        "resources": [{"name": "deployments", "kind": "Deployment", "namespaced": True, "verbs": ["get"]}],
    },
}


async def legacy(request: web.Request) -> web.StreamResponse:
    if request.path in LEGACY:
        return web.json_response(LEGACY[request.path])
    return web.Response(status=503)


async def test_a_server_without_aggregated_discovery_is_asked_group_by_group() -> None:
    async with client_of(legacy) as client:
        discovery = Discovery(client)
        assert (await discovery.resource_for("", "Pod")).plural == "pods"
        assert (await discovery.resource_for("apps", "Deployment")).version == "v1"
        assert (await discovery.resource_for("apps", "Deployment", "v1beta1")).version == "v1beta1"


async def test_a_kind_of_an_api_that_is_down_is_not_called_unknown() -> None:
    async with client_of(legacy) as client:
        with pytest.raises(ServerFault, match=r"down.example.org"):
            await Discovery(client).resource_for("down.example.org", "Foo")


POD = ObjectKey("", "Pod", "demo", "web")


async def test_a_kind_that_is_named_and_not_served_is_not_called_unknown() -> None:
    async with client_of(legacy) as client:
        discovery = Discovery(client)

        async def unserved(resource: Resource) -> None:
            raise KindUnknown(resource.kind, status=404)

        with pytest.raises(ServerFault, match="says that it serves v1 Pod"):
            await discovery.ask(POD, unserved)


async def test_a_404_in_the_place_of_discovery_makes_no_kind_unknown() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        return web.Response(status=404)

    async with client_of(handler) as client:
        with pytest.raises(ServerFault, match="404"):
            await Discovery(client).namespaced("", "Pod")


async def test_no_object_is_asked_for_with_a_key_that_its_kind_cannot_have() -> None:
    async with client_of(legacy) as client:
        discovery = Discovery(client)
        with pytest.raises(ScopeChanged, match="its kind is namespaced"):
            await discovery.ask(
                POD._replace(namespace=""), lambda resource: client.get(resource, None, "web")
            )


async def test_a_refresh_that_fails_forgets_nothing() -> None:
    broken = False

    async def handler(request: web.Request) -> web.StreamResponse:
        return web.Response(status=503) if broken else await legacy(request)

    async with client_of(handler) as client:
        discovery = Discovery(client)
        await discovery.refresh()
        broken = True
        with pytest.raises(ServerFault):
            await discovery.refresh()
        assert (await discovery.resource_for("", "Pod")).plural == "pods"
