"""A doorbell tells of every change of what somebody waits for, whatever happens to its watch."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from convoy.api.objects import ObjectKey
from convoy.kube.client import KubeClient
from convoy.kube.doorbell import Doorbells, Listener
from convoy.kube.encode import apply_body
from convoy.kube.resources import CONFIG_MAPS
from tests.kube.client.proxy import EXPIRED, FaultyProxy, events, status

PATIENCE = 20.0


async def put(home: KubeClient, namespace: str, name: str) -> None:
    tree = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
    body = apply_body({**tree, "data": {"value": secrets.token_hex(4)}})
    await home.apply(body, CONFIG_MAPS, namespace, name)


def key(namespace: str, name: str) -> ObjectKey:
    return CONFIG_MAPS.key(namespace, name)


def covered(bell: Listener) -> bool:
    """Ask anew each time."""
    return bell.covered


@asynccontextmanager
async def listening(client: KubeClient, namespace: str, *names: str) -> AsyncIterator[Listener]:
    bells = Doorbells(linger=0.0)
    kinds = {key(namespace, name): CONFIG_MAPS for name in names}
    try:
        async with bells.listening(client, kinds) as bell:
            await bell.settled(timeout=PATIENCE)
            yield bell
    finally:
        await bells.close()


async def test_it_rings_for_what_is_waited_for_and_for_nothing_else(home: KubeClient, namespace: str) -> None:
    async with listening(home, namespace, "a", "b") as bell:
        assert bell.covered
        await bell.wait(timeout=0.5)  # the ring of the start
        await put(home, namespace, "other")
        await put(home, namespace, "b")
        assert await bell.wait(timeout=PATIENCE, gather=0.2) == {key(namespace, "b")}
        await home.delete(CONFIG_MAPS, namespace, "b")
        assert await bell.wait(timeout=PATIENCE) == {key(namespace, "b")}
        assert await bell.wait(timeout=0.2) == set()


async def test_what_may_have_been_missed_rings(home: KubeClient, namespace: str) -> None:
    async with FaultyProxy.before(home) as proxy:
        proxy.watches.append(events(EXPIRED))
        async with listening(proxy.client, namespace, "a") as bell:
            await bell.wait(timeout=0.5)
            assert await bell.wait(timeout=PATIENCE) == {key(namespace, "a")}
            async with asyncio.timeout(PATIENCE):
                while not proxy.open:  # noqa: ASYNC110 (the other end is waited for)
                    await asyncio.sleep(0.05)
            proxy.reset_watches()
            assert await bell.wait(timeout=PATIENCE) == {key(namespace, "a")}


async def test_a_kind_that_cannot_be_watched_is_not_covered_and_is_tried_again(
    home: KubeClient, namespace: str
) -> None:
    async with FaultyProxy.before(home) as proxy:
        proxy.lists.append(status(500, "InternalError"))
        async with listening(proxy.client, namespace, "a") as bell:
            assert not covered(bell)
            async with asyncio.timeout(PATIENCE):
                while not covered(bell):  # noqa: ASYNC110 (another task is waited for)
                    await asyncio.sleep(0.05)
            await put(home, namespace, "a")
            assert await bell.wait(timeout=PATIENCE) == {key(namespace, "a")}


async def test_many_who_wait_share_one_watch_which_ends_with_them(home: KubeClient, namespace: str) -> None:
    async with FaultyProxy.before(home) as proxy:
        bells = Doorbells(linger=0.0)
        kinds = {key(namespace, "a"): CONFIG_MAPS}
        async with bells.listening(proxy.client, kinds) as one, bells.listening(proxy.client, kinds) as two:
            await one.settled(timeout=PATIENCE)
            await one.wait(timeout=0.5)
            await two.wait(timeout=0.5)
            await put(home, namespace, "a")
            assert await one.wait(timeout=PATIENCE) == await two.wait(timeout=PATIENCE) == set(kinds)
            assert proxy.watched == 1
        async with asyncio.timeout(PATIENCE):
            while proxy.open:  # noqa: ASYNC110 (the other end is waited for)
                await asyncio.sleep(0.05)
        await bells.close()


async def test_a_server_that_closes_each_watch_at_once_is_not_asked_in_a_loop(
    home: KubeClient, namespace: str
) -> None:
    async with FaultyProxy.before(home) as proxy:
        proxy.watches += [events() for _ in range(1000)]
        async with listening(proxy.client, namespace, "a") as bell:
            await asyncio.sleep(1.0)
            assert bell.covered
        assert proxy.watched < 20
