"""The renders that were about to be applied: what history names, and a pin and a rollback load again (D40).

Only the store is asked, never a folder of this machine: all workers have to answer alike to whether a pin can be
followed. A file that does not open counts as missing, and is written anew as soon as its render is at hand.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import Final

from convoy.api.rendered import Render
from convoy.store.crypto import Damaged, InstallationKey
from convoy.store.memory import Held, Memory
from convoy.store.paths import published_path
from convoy.store.store import RenderStore

_MAX_PROVEN: Final = 20_000


class RenderMissing(Exception):
    """No place has the render, or none that is undamaged: it has to be resolved again."""


class Published:
    """The renders in the store, each under its Release's UID."""

    def __init__(self, store: RenderStore, *, key: InstallationKey, memory: Memory) -> None:
        self._store = store
        self._key = key
        self._memory = memory
        self._proven: OrderedDict[str, str] = OrderedDict()
        """Marks of the files that this process has opened."""

    async def load(self, uid: str, ref: str) -> Render:
        """Return a render of this Release; an unchanged file costs one small request.

        Raises:
            RenderMissing: the store has no such render of this Release, or a damaged one; the message says which.
            DeployFailed: the store failed.
        """
        path = published_path(uid, ref)
        found = await self._store.stat(path)
        held = self._memory.get(path)
        if found is not None and held is not None and held.mark == found.mark:
            return held.render
        sealed = await self._store.read(path) if found is not None else None
        if found is None or sealed is None:
            raise RenderMissing(f"the render store has no render {ref} of this Release")
        try:
            render, size = await asyncio.to_thread(self._opened, path, sealed)
        except (Damaged, ValueError):
            raise RenderMissing(
                f"the render store's file of {ref} is damaged, or was written with another key"
            ) from None
        if render.ref != ref:
            raise RenderMissing(f"the render store's file of {ref} holds another render")
        self._memory.put(path, Held(render, size, found.mark))
        return render

    async def is_sound(self, uid: str, ref: str) -> bool | None:
        """Tell whether the store has this render; None where it has a damaged one.

        Raises:
            DeployFailed: the store failed.
        """
        path = published_path(uid, ref)
        found = await self._store.stat(path)
        if found is None:
            return False
        if self._proven.get(path) == found.mark:
            return True
        try:
            self._key.open(await self._store.read(path) or b"", name=path)
        except Damaged:
            return None
        self._proven[path] = found.mark
        if len(self._proven) > _MAX_PROVEN:
            self._proven.popitem(last=False)
        return True

    async def write(self, uid: str, render: Render, *, replace: bool) -> None:
        """Write a render; one that somebody else has written meanwhile stays, unless it is to be replaced.

        Raises:
            DeployFailed: the write failed (`reference/apply-and-prune`, Store the render).
        """
        path = published_path(uid, render.ref)
        sealed = await asyncio.to_thread(self._sealed, path, render)
        if replace:
            await self._store.write(path, sealed)
        else:
            await self._store.create(path, sealed)

    def _sealed(self, path: str, render: Render) -> bytes:
        return self._key.seal(render.encode(), name=path)

    def _opened(self, path: str, sealed: bytes) -> tuple[Render, int]:
        data = self._key.open(sealed, name=path)
        return Render.decode(data), len(data)
