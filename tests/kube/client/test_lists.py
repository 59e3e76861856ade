"""A list is complete and consistent, however many pages it takes, and its items say what they are."""

from __future__ import annotations

import pytest
from aiohttp import web

from convoy.kube.client import KubeClient
from convoy.kube.encode import apply_body
from convoy.kube.errors import ServerFault
from convoy.kube.resources import CONFIG_MAPS
from tests.kube.client.conftest import client_of
from tests.kube.client.proxy import status


async def test_pages_are_put_together(home: KubeClient, namespace: str) -> None:
    names = [f"it-{i}" for i in range(7)]
    for name in names:
        tree = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": {"a": "b"}}}
        await home.apply(apply_body(tree), CONFIG_MAPS, namespace, name)
    items = await home.list(CONFIG_MAPS, namespace, label_selector="a=b", limit=2)
    assert [item["metadata"]["name"] for item in items] == names
    assert {(item["apiVersion"], item["kind"]) for item in items} == {("v1", "ConfigMap")}


def page(*names: str, following: str = "") -> web.Response:
    items = [{"metadata": {"name": name}} for name in names]
    return web.json_response({"metadata": {"resourceVersion": "7", "continue": following}, "items": items})


async def test_a_list_that_expires_between_two_pages_begins_again() -> None:
    first = iter(["old", "new"])
    second = iter([status(410, "Expired"), None])

    async def handler(request: web.Request) -> web.StreamResponse:
        if "continue" not in request.query:
            return page(next(first), following="more")
        fault = next(second)
        return page("last") if fault is None else await fault(request)

    async with client_of(handler) as client:
        names = [item["metadata"]["name"] for item in await client.list(CONFIG_MAPS)]
    assert names == ["new", "last"]


async def test_a_list_that_always_expires_is_given_up() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        return (
            await status(410, "Expired")(request) if "continue" in request.query else page("a", following="x")
        )

    async with client_of(handler) as client:
        with pytest.raises(ServerFault):
            await client.list(CONFIG_MAPS)


async def test_a_list_that_ends_in_its_depths_is_a_fault_of_the_server() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        return web.Response(body=b'{"items":[' + b"[" * 5000, content_type="application/json")

    async with client_of(handler) as client:
        with pytest.raises(ServerFault, match="no JSON"):
            await client.list(CONFIG_MAPS)
