"""The local copy stays true whatever happens to its watch."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from convoy.api.objects import Manifest
from convoy.kube.client import KubeClient
from convoy.kube.encode import apply_body, encode
from convoy.kube.errors import ServerFault
from convoy.kube.reflector import LONGEST_ASKED, Change, Reflector, ReflectorOptions
from convoy.kube.resources import CONFIG_MAPS, Resource
from tests.kube.client.proxy import EXPIRED, FaultyProxy, events, status

FAST = ReflectorOptions(backoff=0.01, max_backoff=0.02, page=2)


class Watched:
    """A reflector over the config maps of one namespace, with the list of the changes that it told."""

    def __init__(
        self, home: KubeClient, client: KubeClient, namespace: str, options: ReflectorOptions
    ) -> None:
        self.home = home
        self.namespace = namespace
        self.changes: list[tuple[str, str, str]] = []
        self.slept: list[float] = []
        self.reflector = Reflector(
            client,
            CONFIG_MAPS,
            namespace,
            project=self._project,
            on_event=self._tell,
            label_selector="test=reflector",
            options=options,
            sleep=self._sleep,
        )

    def _project(self, item: Manifest) -> str:
        value: str = item["data"]["value"]
        return value

    def _tell(self, change: Change[str]) -> None:
        self.changes.append((change.type, change.name, change.value))
        if change.value == "indigestible":
            raise RuntimeError("a consumer's mistake")

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(min(seconds, 0.05))

    async def put(self, name: str, value: str) -> str:
        """Write a config map and return its resourceVersion."""
        metadata = {"name": name, "labels": {"test": "reflector"}}
        tree: dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
        tree["data"] = {"value": value}
        live = await self.home.apply(apply_body(tree), CONFIG_MAPS, self.namespace, name)
        version: str = live["metadata"]["resourceVersion"]
        return version

    async def drop(self, name: str) -> None:
        await self.home.delete(CONFIG_MAPS, self.namespace, name)

    async def until(self, true: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while True:
                if true():
                    return
                await asyncio.sleep(0.01)

    async def settle(self) -> None:
        """Write one more and wait until it is seen: then everything before it was seen as well."""
        await self.reflector.wait_until_seen(await self.put("mark", secrets.token_hex(4)), timeout=20)


@asynccontextmanager
async def watching(
    home: KubeClient, client: KubeClient, namespace: str, options: ReflectorOptions = FAST
) -> AsyncIterator[Watched]:
    watched = Watched(home, client, namespace, options)
    task = asyncio.create_task(watched.reflector.run())
    try:
        yield watched
        assert not task.done()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_it_tells_what_is_there_and_what_happens(home: KubeClient, namespace: str) -> None:
    async with watching(home, home, namespace) as before:
        for name in ("a", "b", "c", "d", "e"):
            await before.put(name, "1")
    async with watching(home, home, namespace) as watched:
        await watched.reflector.synced()
        assert sorted(watched.changes) == [("ADDED", name, "1") for name in "abcde"]
        watched.changes.clear()
        await watched.put("a", "2")
        await watched.drop("b")
        await watched.put("f", "1")
        await watched.settle()
        assert watched.changes[:3] == [("MODIFIED", "a", "2"), ("DELETED", "b", "1"), ("ADDED", "f", "1")]
        assert watched.reflector.get(namespace, "a") == "2"
        assert watched.reflector.get(namespace, "b") is None


async def test_a_write_is_seen_once_its_version_was(home: KubeClient, namespace: str) -> None:
    async with watching(home, home, namespace) as watched:
        version = await watched.put("a", "1")
        await watched.reflector.wait_until_seen(version, timeout=20)
        assert watched.reflector.get(namespace, "a") == "1"
        await watched.reflector.wait_until_seen(version, timeout=0)
        with pytest.raises(TimeoutError):
            await watched.reflector.wait_until_seen(str(int(version) + 10**9), timeout=0.05)


async def test_a_relist_finds_what_happened_while_nobody_watched(
    home: KubeClient, proxy: FaultyProxy, namespace: str
) -> None:
    async with watching(home, proxy.client, namespace) as watched:
        for name in ("gone", "changed", "same", "anew"):
            await watched.put(name, "1")
        await watched.settle()
        await watched.until(lambda: bool(proxy.open))
        watched.changes.clear()
        # The watch breaks, and its version expires while the world goes on.
        proxy.watches += [status(503, "ServiceUnavailable"), status(410, "Expired")]
        proxy.lists.append(status(500, "InternalError"))
        proxy.reset_watches()
        await watched.drop("gone")
        await watched.put("changed", "2")
        await watched.drop("anew")
        await watched.put("anew", "1")
        await watched.settle()
        assert ("DELETED", "gone", "1") in watched.changes
        assert ("MODIFIED", "changed", "2") in watched.changes
        assert [c for c in watched.changes if c[1] == "anew"] == [
            ("DELETED", "anew", "1"),
            ("ADDED", "anew", "1"),
        ]
        assert not [c for c in watched.changes if c[1] == "same"]


@pytest.mark.parametrize(
    "fault",
    [
        status(410, "Expired"),
        events(EXPIRED),
        status(429, "TooManyRequests", retry_after=1),
        status(500, "InternalError"),
        status(403, "Forbidden"),
        status(404, "NotFound"),
        events(then="reset"),
        events(b'{"type":"ADDED","object":{"metadata":{"name":"half', then="reset"),
        events(b'{"type":"ADDED","object":{"metadata":{"name":"half'),
        events(b"<html>\n"),
        events(b'{"type":"SURPRISE","object":{}}\n'),
        events(b'{"type":"ERROR","object":{"kind":"Status","code":500,"message":"etcd is tired"}}\n'),
        events(),
        events(then="silence"),
    ],
    ids=[
        "gone-by-status",
        "gone-by-event",
        "too-many-requests",
        "server-error",
        "forbidden",
        "not-found",
        "reset",
        "reset-in-an-event",
        "end-in-an-event",
        "no-event",
        "unknown-event",
        "error-event",
        "closed-at-once",
        "half-open",
    ],
)
async def test_it_survives_a_broken_watch(
    home: KubeClient, proxy: FaultyProxy, namespace: str, fault: Any
) -> None:
    options = ReflectorOptions(backoff=0.01, max_backoff=0.02, silence=0.3)
    async with watching(home, proxy.client, namespace, options) as watched:
        await watched.put("before", "1")
        proxy.watches += [fault, fault]
        await watched.reflector.synced()
        await watched.until(lambda: not proxy.watches)
        await watched.put("after", "1")
        await watched.settle()
        assert watched.reflector.get(namespace, "before") == "1"
        assert watched.reflector.get(namespace, "after") == "1"
        assert watched.reflector.get(namespace, "half") is None


async def test_it_waits_as_long_as_the_server_asks(
    home: KubeClient, proxy: FaultyProxy, namespace: str
) -> None:
    proxy.lists.append(status(429, "TooManyRequests", retry_after=17))
    async with watching(home, proxy.client, namespace) as watched:
        await watched.reflector.synced()
        assert watched.slept[0] == 17


async def test_it_does_not_wait_for_hours_though_a_server_asks_it_to(
    home: KubeClient, proxy: FaultyProxy, namespace: str
) -> None:
    proxy.lists.append(status(429, "TooManyRequests", retry_after=10**9))
    async with watching(home, proxy.client, namespace) as watched:
        await watched.reflector.synced()
        assert watched.slept[0] == LONGEST_ASKED


@pytest.mark.parametrize("is_there_before", [True, False])
async def test_an_object_that_is_nested_too_deeply_hides_no_other_one(
    home: KubeClient, custom: Resource, namespace: str, is_there_before: bool
) -> None:
    async def put(name: str, depth: int) -> None:
        body = encode(
            {"apiVersion": custom.api_version, "kind": "Foo", "metadata": {"name": name}, "spec": 0}
        )
        body = body.replace(b'"spec":0', b'"spec":' + b'{"a":' * depth + b"1" + b"}" * depth)
        answer = await home.request(
            "POST", custom.path(namespace), body=body, content_type="application/json"
        )
        assert answer.status == 201

    reflector = Reflector(home, custom, namespace, project=lambda item: str(item["metadata"]["name"]))
    if is_there_before:
        await put("deep", 5000)
    task = asyncio.create_task(reflector.run())
    try:
        async with asyncio.timeout(20):
            await reflector.synced()
            if not is_there_before:
                await put("deep", 5000)
            await put("flat", 5)
            while reflector.get(namespace, "flat") is None:
                assert not task.done()
                await asyncio.sleep(0.01)
        assert list(reflector.values()) == ["flat"]
        assert [item["metadata"]["name"] for item in await home.list(custom, namespace)] == ["flat"]
        with pytest.raises(ServerFault, match="nested too deeply"):
            await home.get(custom, namespace, "deep")
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_failures_in_a_row_wait_longer_and_longer(
    home: KubeClient, proxy: FaultyProxy, namespace: str
) -> None:
    proxy.lists += [status(500, "InternalError")] * 6
    async with watching(home, proxy.client, namespace, ReflectorOptions(backoff=1, max_backoff=8)) as watched:
        await watched.reflector.synced()
    for slept, ceiling in zip(watched.slept, (1, 2, 4, 8, 8, 8), strict=True):
        assert ceiling / 2 <= slept <= ceiling


async def test_a_server_that_ends_a_watch_is_asked_again_from_where_it_was(
    home: KubeClient, proxy: FaultyProxy, namespace: str
) -> None:
    async with watching(home, proxy.client, namespace, ReflectorOptions(watch_lifetime=1)) as watched:
        await watched.reflector.synced()
        listed = proxy.listed
        await watched.until(lambda: proxy.watched >= 3)
        assert proxy.listed == listed


async def test_a_mistake_of_a_consumer_or_of_one_object_stops_nothing(
    home: KubeClient, namespace: str
) -> None:
    async with watching(home, home, namespace) as watched:
        await watched.put("bad", "indigestible")
        unreadable = {
            "metadata": {"name": "unreadable", "namespace": namespace, "labels": {"test": "reflector"}}
        }
        await home.create({"apiVersion": "v1", "kind": "ConfigMap", **unreadable}, CONFIG_MAPS)
        await watched.settle()
        assert watched.reflector.get(namespace, "bad") == "indigestible"
        assert watched.reflector.get(namespace, "unreadable") is None
