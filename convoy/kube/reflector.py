"""A local copy of a collection that keeps itself true: list, watch, and again for as long as it runs.

The official watch gives up at the first broken connection. This one survives what a server and a network
do: an expired version (410, as a status and as an event), load shedding (429 with Retry-After), resets, a
connection that is open but dead, a server that closes at once, a collection that is not there yet. What
happened while nobody watched is found by comparing the new list with the copy, so that deletions are not
missed either. Only a projection of each object is kept, so that ten thousand large objects stay small.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

import structlog

from convoy.api.objects import Manifest
from convoy.kube.client import PAGE, KubeClient
from convoy.kube.errors import ApiError, Gone, Unreachable
from convoy.kube.resources import Resource
from convoy.kube.watch import watch

T = TypeVar("T")

LONGEST_ASKED = 60.0
"""Seconds that a server can have it wait: a proxy in maintenance may ask for an hour, and be back in a minute."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectorOptions:
    """Times of a reflector, in seconds."""

    watch_lifetime: float = 240.0
    """The server ends a watch after this, or up to a quarter later."""
    silence: float = 100.0
    """A watch that is silent for so long is taken for dead; bookmarks come about once a minute."""
    backoff: float = 0.2
    """Wait after the first failure; doubles with each one in a row, and half of it is random."""
    max_backoff: float = 30.0
    page: int = PAGE
    """Objects a page of the list."""


@dataclass(frozen=True, slots=True)
class Change(Generic[T]):
    """What happened to one object of the copy."""

    type: Literal["ADDED", "MODIFIED", "DELETED"]
    namespace: str
    name: str
    uid: str
    value: T
    """The projection now, and of a deleted object the last one known."""
    previous: T | None
    """The projection before; None for an added object."""


@dataclass(frozen=True, slots=True)
class _Entry(Generic[T]):
    uid: str
    version: str
    value: T


class Reflector(Generic[T]):
    """Keeps `project(object)` of each object of a collection. `run()` is the task; everything else reads.

    `on_event` is called for each change, synchronously and in order, after the copy has changed and before
    a waiter for its version wakes. An exception of it, or of `project`, is logged and ends nothing; an
    object that cannot be projected counts as absent.
    """

    def __init__(
        self,
        client: KubeClient,
        resource: Resource,
        namespace: str | None = None,
        *,
        project: Callable[[Manifest], T],
        on_event: Callable[[Change[T]], None] | None = None,
        label_selector: str | None = None,
        field_selector: str | None = None,
        options: ReflectorOptions | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._client = client
        self._resource = resource
        self._namespace = namespace
        self._project = project
        self._on_event = on_event
        self._selectors = {"label_selector": label_selector, "field_selector": field_selector}
        self._options = options or ReflectorOptions()
        self._sleep = sleep
        self._entries: dict[tuple[str, str], _Entry[T]] = {}
        self._synced = asyncio.Event()
        self._version = ""
        self._seen = 0
        """The latest version of the collection that the copy reflects; 0 before the first list."""
        self._waiters: list[tuple[int, asyncio.Future[None]]] = []
        self._failures = 0

    def get(self, namespace: str, name: str) -> T | None:
        """Return the projection of one object, or None."""
        entry = self._entries.get((namespace, name))
        return entry.value if entry is not None else None

    def __len__(self) -> int:
        return len(self._entries)

    def values(self) -> Iterator[T]:
        """Return the projections as they are now; later changes do not disturb the iteration."""
        return iter([entry.value for entry in self._entries.values()])

    async def synced(self) -> None:
        """Wait until the first list is complete."""
        await self._synced.wait()

    async def wait_until_seen(self, resource_version: str, *, timeout: float) -> None:
        """Wait until the copy reflects a write that answered with this resourceVersion, or a later one.

        Raises:
            TimeoutError: not within `timeout` seconds; the caller must not rely on the copy.
        """
        wanted = int(resource_version)
        if self._seen >= wanted:
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiter = (wanted, future)
        self._waiters.append(waiter)
        try:
            async with asyncio.timeout(timeout):
                await future
        finally:
            if waiter in self._waiters:
                self._waiters.remove(waiter)

    async def run(self) -> None:
        """List and watch for ever. Ends by cancellation only."""
        while True:
            try:
                if not self._version:
                    await self._list()
                await self._watch()
            except Gone:
                self._version = ""
                await self._back_off(None, "the watched version expired")
            except ApiError as error:
                await self._back_off(error.retry_after, error.message)

    async def _back_off(self, asked: float | None, why: str) -> None:
        self._failures += 1
        options = self._options
        ceiling = min(options.max_backoff, options.backoff * 2.0 ** min(self._failures - 1, 16))
        seconds = max(ceiling * random.uniform(0.5, 1.0), min(asked or 0.0, LONGEST_ASKED))
        _log.warning(
            "watch-interrupted",
            resource=self._resource.plural,
            server=self._client.endpoint.server,
            why=why,
            failures=self._failures,
            wait=round(seconds, 2),
        )
        await self._sleep(seconds)

    async def _list(self) -> None:
        # Without a resourceVersion the answer is the newest state: the copy must never go back in time.
        listed: dict[tuple[str, str], _Entry[T]] = {}
        version = "0"
        async for page in self._client.pages(
            self._resource, self._namespace, limit=self._options.page, **self._selectors
        ):
            for item in page.items:
                entry = self._entry(item)
                if entry is not None:
                    listed[_key(item)] = entry
            version = page.resource_version
        for key in [key for key in self._entries if key not in listed]:
            self._delete(key)
        for key, entry in listed.items():
            self._put(key, entry)
        self._version = version
        self._reached(version)
        self._synced.set()

    async def _watch(self) -> None:
        opened = time.monotonic()
        alive = False
        events = watch(
            self._client,
            self._resource,
            self._namespace,
            resource_version=self._version,
            **self._selectors,
            lifetime=self._options.watch_lifetime,
            silence=self._options.silence,
        )
        async with aclosing(events):
            async for event in events:
                alive = True
                self._failures = 0
                version = (event.object.get("metadata") or {}).get("resourceVersion") or ""
                if event.type == "DELETED":
                    self._delete(_key(event.object))
                elif event.type != "BOOKMARK":
                    self._read(event.object)
                if version:
                    self._version = version
                    self._reached(version)
        if not alive and time.monotonic() - opened < 1.0:
            # A server that closes each watch at once must not be asked a thousand times a second.
            raise Unreachable(f"the watch of {self._resource.plural} was closed at once")
        self._failures = 0

    def _read(self, item: Manifest) -> None:
        entry = self._entry(item)
        if entry is None:
            self._delete(_key(item))
        else:
            self._put(_key(item), entry)

    def _entry(self, item: Manifest) -> _Entry[T] | None:
        metadata = item["metadata"]
        try:
            value = self._project(item)
        except Exception:  # noqa: BLE001
            # An object that cannot be read counts as absent; it must not hide all the others.
            _log.exception(
                "object-not-readable",
                resource=self._resource.plural,
                object=str(self._resource.key(*_key(item))),
            )
            return None
        return _Entry(metadata.get("uid") or "", metadata.get("resourceVersion") or "", value)

    def _put(self, key: tuple[str, str], entry: _Entry[T]) -> None:
        known = self._entries.get(key)
        if known is not None and known.uid != entry.uid:
            # Deleted and made again while nobody watched: two objects, so two changes.
            self._delete(key)
            known = None
        if known is not None and known.version == entry.version:
            return
        self._entries[key] = entry
        previous = known.value if known is not None else None
        self._tell(Change("ADDED" if known is None else "MODIFIED", *key, entry.uid, entry.value, previous))

    def _delete(self, key: tuple[str, str]) -> None:
        known = self._entries.pop(key, None)
        if known is not None:
            self._tell(Change("DELETED", *key, known.uid, known.value, known.value))

    def _tell(self, change: Change[T]) -> None:
        if self._on_event is None:
            return
        try:
            self._on_event(change)
        except Exception:  # noqa: BLE001
            # One object that a consumer cannot handle must not stop the news about all the others.
            _log.exception(
                "event-handler-failed",
                resource=self._resource.plural,
                object=str(self._resource.key(change.namespace, change.name)),
            )

    def _reached(self, version: str) -> None:
        self._seen = max(self._seen, int(version) if version.isdecimal() else 0)
        for wanted, future in self._waiters:
            if wanted <= self._seen and not future.done():
                future.set_result(None)


def _key(item: Manifest) -> tuple[str, str]:
    metadata = item["metadata"]
    return metadata.get("namespace") or "", metadata["name"]
