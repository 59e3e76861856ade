"""Deleting what nobody needs any more from the render store, and all of a Release at its end.

Only a sync that has just succeeded collects: it is the Release's only one (its workflow id is the lock), so no render
becomes wanted while its file is deleted. Drift passes and previews run beside it, hence nothing young goes either.
What is left out for lack of time goes with the next collection; what fails costs space and no sync.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Set
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

from convoy.store.crypto import Damaged, InstallationKey
from convoy.store.paths import INPUTS, blob_path, published_folder, ref_of, work_folder
from convoy.store.renders import FRESH
from convoy.store.store import Listed, RenderStore

YOUNG: Final = 2 * FRESH
"""Files that are younger stay."""

EVERY: Final = timedelta(hours=1)
"""How often a Release that applies the same render again is looked at."""

MAX_DELETED: Final = 200
"""Files deleted in one collection."""


class _Input(msgspec.Struct):
    """What the collector has to know of a file that tells what inputs became."""

    ref: str


class Collector:
    """Collects for the Releases of one process."""

    def __init__(
        self, store: RenderStore, *, key: InstallationKey, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._store = store
        self._key = key
        self._clock = clock
        self._looked: dict[str, float] = {}

    def is_due(self, uid: str) -> bool:
        """Tell whether this process has not looked at a Release for long."""
        looked = self._looked.get(uid)
        return looked is None or self._clock() - looked > EVERY.total_seconds()

    async def collect(self, uid: str, keep: Set[str], *, now: datetime | None = None) -> int:
        """Delete the renders of a Release that are not in `keep`, and return how many files went.

        Of what tells which inputs became a kept render, the newest stays: a chart with random values must give
        the same ones again (D5).

        Raises:
            DeployFailed: the store failed; a part may be deleted.
        """
        self._looked[uid] = self._clock()
        before = (now or datetime.now(UTC)) - YOUNG
        work = await self._store.list(work_folder(uid))
        published = await self._store.list(published_folder(uid))
        inputs = [file for file in work if _is_input(uid, file)]
        renders = [file for file in (*work, *published) if not file.path.startswith(blob_path(uid, ""))]
        doomed = [
            *await self._old_inputs(inputs, keep, before),
            *(file.path for file in renders if file.modified < before and ref_of(file.path) not in keep),
        ][:MAX_DELETED]
        await self._delete(doomed)
        return len(doomed)

    async def forget(self, uid: str) -> int:
        """Delete everything of a Release, and return how many files went.

        Raises:
            DeployFailed: the store failed; a part may be deleted.
        """
        self._looked.pop(uid, None)
        found = [
            file.path
            for folder in (work_folder(uid), published_folder(uid))
            for file in await self._store.list(folder)
        ]
        await self._delete(found)
        return len(found)

    async def _old_inputs(self, inputs: Iterable[Listed], keep: Set[str], before: datetime) -> list[str]:
        old: list[str] = []
        told: set[str] = set()
        for file in sorted(inputs, key=lambda file: file.modified, reverse=True):
            if file.modified >= before:
                continue
            ref = await self._became(file.path)
            if ref in keep and ref not in told:
                told.add(ref)
            else:
                old.append(file.path)
        return old

    async def _became(self, path: str) -> str:
        """Return the render that inputs became; nothing where the file does not open."""
        sealed = await self._store.read(path)
        try:
            return msgspec.json.decode(self._key.open(sealed or b"", name=path), type=_Input).ref
        except (Damaged, msgspec.DecodeError):
            return ""

    async def _delete(self, paths: Iterable[str]) -> None:
        for path in paths:
            await self._store.delete(path)


def _is_input(uid: str, file: Listed) -> bool:
    return file.path.startswith(f"{work_folder(uid)}/{INPUTS}")
