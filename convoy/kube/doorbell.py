"""News that an object has changed, without keeping any: a watch of a kind's metadata, shared by all who wait.

Whoever is told reads the object itself. So nothing here can be out of date: a ring too many costs a read, and where
rings may have been missed (an expired version, a broken connection) everybody is rung. Against a local copy of all
objects of a kind this needs no memory and no first list of thousands, only one short request and one connection a
kind and cluster, and it ends soon after the last one who waits.
"""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager

import structlog

from convoy.api.objects import ObjectKey
from convoy.kube.client import KubeClient
from convoy.kube.errors import ApiError, Forbidden, Gone
from convoy.kube.resources import Resource
from convoy.kube.watch import watch

LINGER = 15.0
"""Seconds that a watch goes on when nobody waits any more: the next rollout may begin at once."""
MAX_BACKOFF = 30.0
PAUSE = 0.2
"""Seconds between two watches: a server that closes each at once must not be asked a thousand times a second."""
METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"

log = structlog.get_logger(__name__)


class Listener:
    """Waits for changes of some objects."""

    def __init__(self, keys: Collection[ObjectKey], bells: Collection[_Bell]) -> None:
        self.keys = frozenset(keys)
        self._bells = bells
        self._rung: set[ObjectKey] = set()
        self._event = asyncio.Event()

    @property
    def covered(self) -> bool:
        """Whether every change will ring: otherwise some kind cannot be watched, and has to be polled."""
        return all(bell.live for bell in self._bells)

    async def settled(self, *, timeout: float) -> None:
        """Wait until each watch is open or has failed: what is read from now on is not older than the first ring."""
        try:
            async with asyncio.timeout(timeout):
                for bell in self._bells:
                    await bell.tried.wait()
        except TimeoutError:
            return

    async def wait(self, *, timeout: float, gather: float = 0.0) -> set[ObjectKey]:
        """Return the objects that have rung since the last call; none if none does for `timeout` seconds.

        The first ring waits `gather` seconds for more: a controller writes a status several times in a row.
        """
        try:
            async with asyncio.timeout(timeout):
                await self._event.wait()
        except TimeoutError:
            return set()
        await asyncio.sleep(gather)
        self._event.clear()
        rung, self._rung = self._rung, set()
        return rung

    def ring(self, keys: Collection[ObjectKey]) -> None:
        """Tell of changed objects."""
        self._rung |= self.keys.intersection(keys)
        if self._rung:
            self._event.set()


class _Bell:
    """One kind on one cluster."""

    def __init__(self, client: KubeClient, resource: Resource) -> None:
        self.live = False
        self.tried = asyncio.Event()
        self.listeners: defaultdict[ObjectKey, set[Listener]] = defaultdict(set)
        self._client = client
        self._resource = resource

    async def run(self) -> None:
        """Watch until cancelled; a kind that the server does not let be watched is left to those who poll."""
        if self._resource.verbs and "watch" not in self._resource.verbs:
            self.tried.set()
            return
        failures = 0
        while True:
            try:
                version = await self._version()
                self._open()
                failures = 0
                while True:
                    version = await self._watch(version)
                    await asyncio.sleep(PAUSE)
            except Gone:
                failures = 0
            except ApiError as error:
                failures += 1
                if failures == 1:
                    log.warning("doorbell-broken", resource=self._resource.plural, why=error.message)
                if isinstance(error, Forbidden):
                    failures = 16  # no use in asking often: whoever waits polls
            finally:
                self.live = False
                self.tried.set()
            await asyncio.sleep(min(MAX_BACKOFF, 0.2 * 2.0 ** min(failures, 16)) * random.uniform(0.5, 1.0))

    def add(self, listener: Listener) -> None:
        """Ring a listener from now on."""
        for key in listener.keys:
            if _is_of(key, self._resource):
                self.listeners[key].add(listener)

    def remove(self, listener: Listener) -> None:
        """Ring it no more."""
        for key in listener.keys:
            if key in self.listeners:
                self.listeners[key].discard(listener)
                if not self.listeners[key]:
                    del self.listeners[key]

    async def _version(self) -> str:
        """Return the collection's version now: a list of one object tells it."""
        async for page in self._client.pages(self._resource, limit=1):
            return page.resource_version
        return "0"

    def _open(self) -> None:
        self.live = True
        self.tried.set()
        for key, listeners in list(self.listeners.items()):  # what happened in between was not seen
            for listener in listeners:
                listener.ring((key,))

    async def _watch(self, version: str) -> str:
        events = watch(self._client, self._resource, None, resource_version=version, accept=METADATA)
        async for event in events:
            metadata = event.object.get("metadata") or {}
            version = metadata.get("resourceVersion") or version
            if event.type != "BOOKMARK":
                key = self._resource.key(metadata.get("namespace"), metadata.get("name") or "")
                for listener in self.listeners.get(key, ()):
                    listener.ring((key,))
        return version


class Doorbells:
    """All watches of one process."""

    def __init__(self, *, linger: float = LINGER) -> None:
        self._linger = linger
        self._bells: dict[tuple[KubeClient, Resource], tuple[_Bell, asyncio.Task[None]]] = {}

    @asynccontextmanager
    async def listening(
        self, client: KubeClient, kinds: Mapping[ObjectKey, Resource]
    ) -> AsyncIterator[Listener]:
        """Yield what tells of changes of these objects on one cluster, as long as the block lasts."""
        bells = [self._bell(client, resource) for resource in dict.fromkeys(kinds.values())]
        listener = Listener(kinds, bells)
        for bell in bells:
            bell.add(listener)
        try:
            yield listener
        finally:
            for bell in bells:
                bell.remove(listener)
            asyncio.get_running_loop().call_later(self._linger, self._end_idle)

    async def close(self) -> None:
        """End all watches."""
        tasks = [task for _, task in self._bells.values()]
        self._bells.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _bell(self, client: KubeClient, resource: Resource) -> _Bell:
        found = self._bells.get((client, resource))
        if found is None:
            bell = _Bell(client, resource)
            found = self._bells[client, resource] = bell, asyncio.create_task(bell.run())
        return found[0]

    def _end_idle(self) -> None:
        for where, (bell, task) in list(self._bells.items()):
            if not bell.listeners:
                task.cancel()
                del self._bells[where]


def _is_of(key: ObjectKey, resource: Resource) -> bool:
    return (key.group, key.kind) == (resource.group, resource.kind)
