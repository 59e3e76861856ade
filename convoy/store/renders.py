"""Renders by reference: what one activity leaves for the next, and what history and pin find again.

Workflows carry a ref and nothing else, so a render is written once and read by each step. Three places,
nearest first: this process's memory (a small one), the machine's folder, the shared store. In the store a
render first lies under `work/`, for the steps of a sync on any machine; only `publish` puts it under
`renders/`, where a pin finds it, since the pages want nothing stored that the dry run has not seen.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from contextlib import suppress
from typing import Final

from convoy.api.errors import DeployFailed
from convoy.api.rendered import Render
from convoy.store.cache import Cache
from convoy.store.crypto import Damaged, InstallationKey
from convoy.store.store import RenderStore

_MEMORY: Final = 8 * 1024 * 1024
"""Encoded bytes of the renders in memory; as objects they take about ten times as much."""


class RenderMissing(Exception):
    """No place has the render, or none that is undamaged: it has to be resolved again."""


class Renders:
    """Renders and small blobs of all Releases, each under its Release's UID (D40)."""

    def __init__(self, store: RenderStore | None, cache: Cache, *, key: InstallationKey) -> None:
        self._store = store
        self._cache = cache
        self._key = key
        self._memory: OrderedDict[tuple[str, str], tuple[Render, int]] = OrderedDict()

    async def save(self, uid: str, render: Render) -> None:
        """Keep a render for the next steps, on this machine and for the workers on others.

        Raises:
            DeployFailed: the disk or the store failed.
        """
        path = _work_path(uid, render.ref)
        known = self._memory.get((uid, render.ref))
        if known is not None and known[0].revision == render.revision and await self._cache.has(path):
            return
        data = await asyncio.to_thread(render.encode)
        await self._keep(path, data)
        self._remember(uid, render, len(data))

    async def load(self, uid: str, ref: str) -> Render:
        """Return a render that was saved or published.

        Raises:
            RenderMissing: no place has it undamaged.
            DeployFailed: the store failed.
        """
        known = self._memory.get((uid, ref))
        if known is not None:
            self._memory.move_to_end((uid, ref))
            return known[0]
        for path in (_work_path(uid, ref), _published_path(uid, ref)):
            data = await self._find(path)
            if data is not None:
                render = await asyncio.to_thread(Render.decode, data)
                self._remember(uid, render, len(data))
                return render
        raise RenderMissing(f"no place has the render {ref}")

    async def publish(self, uid: str, ref: str) -> None:
        """Write a saved render to the render store; nothing happens where none is configured.

        Raises:
            DeployFailed: the write failed (`reference/apply-and-prune`, Store the render).
            RenderMissing: it was never saved, or got lost.
        """
        if self._store is None:
            return
        path = _published_path(uid, ref)
        if await self._store.has(path):
            return
        render = await self.load(uid, ref)
        await self._store.create(path, await asyncio.to_thread(self._seal, path, render))

    async def is_published(self, uid: str, ref: str) -> bool:
        """Tell whether the render store has a render, so that a pin finds it on every worker.

        Raises:
            DeployFailed: the store failed.
        """
        return self._store is not None and await self._store.has(_published_path(uid, ref))

    async def save_blob(self, uid: str, name: str, data: bytes) -> None:
        """Keep bytes under a name of the Release's, in place of what was there.

        Raises:
            DeployFailed: the disk or the store failed.
        """
        await self._keep(_blob_path(uid, name), data)

    async def load_blob(self, uid: str, name: str) -> bytes | None:
        """Return the bytes under this name, or None where they got lost.

        Raises:
            DeployFailed: the store failed.
        """
        path = _blob_path(uid, name)
        # With a store, another machine may have written a newer one: the folder is not asked.
        return await self._stored(path) if self._store is not None else await self._cached(path)

    def _seal(self, path: str, render: Render) -> bytes:
        return self._key.seal(render.encode(), name=path)

    def _remember(self, uid: str, render: Render, size: int) -> None:
        self._memory[uid, render.ref] = (render, size)
        self._memory.move_to_end((uid, render.ref))
        while len(self._memory) > 1 and sum(size for _, size in self._memory.values()) > _MEMORY:
            self._memory.popitem(last=False)

    async def _keep(self, path: str, data: bytes) -> None:
        sealed = await asyncio.to_thread(self._key.seal, data, name=path)
        try:
            await self._cache.write(path, sealed)
        except OSError as error:
            raise DeployFailed(f"the working folder is not writable: {error.strerror}") from None
        if self._store is not None:
            await self._store.write(path, sealed)

    async def _find(self, path: str) -> bytes | None:
        data = await self._cached(path)
        return data if data is not None else await self._stored(path)

    async def _cached(self, path: str) -> bytes | None:
        sealed = await self._cache.read(path)
        data = await self._opened(path, sealed)
        if sealed is not None and data is None:
            await self._cache.remove(path)
        return data

    async def _stored(self, path: str) -> bytes | None:
        if self._store is None:
            return None
        sealed = await self._store.read(path)
        data = await self._opened(path, sealed)
        if sealed is not None and data is not None:
            # A full disk costs the next read a request and nothing else.
            with suppress(OSError):
                await self._cache.write(path, sealed)
        return data

    async def _opened(self, path: str, sealed: bytes | None) -> bytes | None:
        if sealed is None:
            return None
        try:
            return await asyncio.to_thread(self._key.open, sealed, name=path)
        except Damaged:
            return None


def _work_path(uid: str, ref: str) -> str:
    return f"work/{uid}/{ref.replace(':', '-')}"


def _published_path(uid: str, ref: str) -> str:
    return f"renders/{uid}/{ref.replace(':', '-')}"


def _blob_path(uid: str, name: str) -> str:
    return f"work/{uid}/blob-{name.replace('/', '-')}"
