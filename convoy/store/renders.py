"""Renders by reference: what one activity leaves for the next, and what history and pin find again.

Workflows carry a ref and nothing else, so a render is written once and read by each step. Three places,
nearest first: this process's memory (a small one), the machine's folder, the shared store. In the store a
render first lies under `work/`, for the steps of a sync on any machine; only `publish` puts it under
`renders/`, where a pin finds it, since the pages want nothing stored that the dry run has not seen.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Final

from convoy.api.errors import DeployFailed
from convoy.api.rendered import Render
from convoy.store.cache import Cache
from convoy.store.crypto import Damaged, InstallationKey
from convoy.store.memory import Held, Memory
from convoy.store.paths import blob_path, published_path, work_path
from convoy.store.published import Published, RenderMissing
from convoy.store.store import RenderStore

__all__ = ["RenderMissing", "Renders"]

FRESH: Final = timedelta(hours=1)
"""What is still in use is written again after so long: the collector deletes older files only."""


class Renders:
    """Renders and small blobs of all Releases, each under its Release's UID (D40)."""

    def __init__(self, store: RenderStore | None, cache: Cache, *, key: InstallationKey) -> None:
        self._store = store
        self._cache = cache
        self._key = key
        self._memory = Memory()
        self._published = Published(store, key=key, memory=self._memory) if store is not None else None

    async def save(self, uid: str, render: Render) -> None:
        """Keep a render for the next steps, on this machine and for the workers on others.

        Raises:
            DeployFailed: the disk or the store failed.
        """
        path = work_path(uid, render.ref)
        held = self._memory.get(path)
        if held is not None and held.render.revision == render.revision and await self._is_kept(path):
            return
        data = await asyncio.to_thread(render.encode)
        await self._keep(path, data)
        self._memory.put(path, Held(render, len(data)))

    async def load(self, uid: str, ref: str) -> Render:
        """Return a render that was saved or published.

        Raises:
            RenderMissing: no place has it undamaged.
            DeployFailed: the store failed.
        """
        paths = work_path(uid, ref), published_path(uid, ref)
        for path in paths:
            held = self._memory.get(path)
            if held is not None:
                return held.render
        for path in paths:
            data = await self._find(path)
            if data is not None:
                render = await asyncio.to_thread(Render.decode, data)
                self._memory.put(path, Held(render, len(data)))
                return render
        raise RenderMissing(f"no place has the render {ref}")

    async def load_published(self, uid: str, ref: str) -> Render:
        """Return a render of this Release from the render store, for a pin, a rollback or a comparison.

        Raises:
            RenderMissing: there is no store, or it has no such render; the message says which.
            DeployFailed: the store failed.
        """
        if self._published is None:
            raise RenderMissing("this installation has no render store (--render-store-url)")
        return await self._published.load(uid, ref)

    async def publish(self, uid: str, ref: str) -> None:
        """Write a saved render to the render store; nothing happens where none is configured.

        Raises:
            DeployFailed: the write failed (`reference/apply-and-prune`, Store the render).
            RenderMissing: it was never saved, or got lost.
        """
        if self._published is None:
            return
        sound = await self._published.is_sound(uid, ref)
        if not sound:
            await self._published.write(uid, await self.load(uid, ref), replace=sound is None)

    async def is_published(self, uid: str, ref: str) -> bool:
        """Tell whether the render store has a render undamaged, so that a pin finds it on every worker.

        Raises:
            DeployFailed: the store failed.
        """
        return self._published is not None and bool(await self._published.is_sound(uid, ref))

    async def save_blob(self, uid: str, name: str, data: bytes) -> None:
        """Keep bytes under a name of the Release's, in place of what was there.

        Raises:
            DeployFailed: the disk or the store failed.
        """
        await self._keep(blob_path(uid, name), data)

    async def load_blob(self, uid: str, name: str) -> bytes | None:
        """Return the bytes under this name, or None where they got lost.

        Raises:
            DeployFailed: the store failed.
        """
        path = blob_path(uid, name)
        # With a store, another machine may have written a newer one: the folder is not asked.
        return await self._stored(path) if self._store is not None else await self._cached(path)

    async def _is_kept(self, path: str) -> bool:
        if not await self._cache.has(path):
            return False
        if self._store is None:
            return True
        found = await self._store.stat(path)
        return found is not None and datetime.now(UTC) - found.modified < FRESH

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
