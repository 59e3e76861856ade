"""One client has at most `max_in_flight` requests open, and watches take none of them."""

from __future__ import annotations

import asyncio

from aiohttp import web

from convoy.kube.client import Limits
from convoy.kube.resources import CONFIG_MAPS
from convoy.kube.watch import watch
from tests.kube.client.conftest import client_of
from tests.kube.client.proxy import events


async def test_requests_wait_for_a_free_slot() -> None:
    now, most = 0, 0

    async def handler(request: web.Request) -> web.StreamResponse:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.01)
        now -= 1
        return web.json_response({"kind": "ConfigMap"})

    async with client_of(handler, limits=Limits(max_in_flight=3)) as client:
        await asyncio.gather(*(client.get(CONFIG_MAPS, "default", f"it-{i}") for i in range(20)))
    assert most == 3


async def test_waiting_for_a_slot_does_not_count_as_the_servers_time() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(0.3)
        return web.json_response({"kind": "ConfigMap"})

    async with client_of(handler, limits=Limits(max_in_flight=1, request_timeout=2.0)) as client:
        await asyncio.gather(*(client.get(CONFIG_MAPS, "default", f"it-{i}") for i in range(8)))


async def test_a_watch_takes_no_slot() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        if "watch" in request.query:
            line = b'{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"1"}}}\n'
            return await events(line, then="silence")(request)
        return web.json_response({"kind": "ConfigMap"})

    async with client_of(handler, limits=Limits(max_in_flight=1)) as client:
        stream = watch(client, CONFIG_MAPS, None, resource_version="1")
        await anext(stream)
        assert await client.get(CONFIG_MAPS, "default", "it")
        await stream.aclose()
