"""The render store: a bucket, or a folder that stands for one, behind one URL.

Only the bytes' owner is trusted, so what is read is opened with the installation's key by the caller. Every
failure of the store becomes `DeployFailed`, which is what the reference page asks for (Store the render).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit, urlunsplit

from obstore.exceptions import AlreadyExistsError, BaseError
from obstore.store import ObjectStore, from_url

from convoy.api.errors import DeployFailed

if TYPE_CHECKING:
    from obstore import ObjectMeta  # which exists for type checkers only

TIMEOUT: Final = 30.0
"""Seconds for one read or write, its retries included."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A file of the store, without its bytes."""

    path: str
    modified: datetime
    mark: str
    """Unlike the mark of any other writing of this path."""


class RenderStore:
    """Objects by path in a bucket."""

    def __init__(self, store: ObjectStore, *, name: str) -> None:
        self._store = store
        self._name = name

    @staticmethod
    def open(url: str) -> RenderStore:
        """Open a `file`, `memory`, `s3`, `gs` or `az` URL; credentials come from the environment.

        Raises:
            ValueError: the URL names no store that convoy knows.
        """
        parts = urlsplit(url)
        try:
            if parts.scheme == "file":
                store = from_url(url, mkdir=True, automatic_cleanup=True)
            elif parts.scheme == "memory":
                store = from_url("memory:///")
            else:
                # Timeouts stay obstore's (5 s to connect, 30 s a request): client options given here would
                # override what the environment says, such as AWS_ALLOW_HTTP.
                half = timedelta(seconds=TIMEOUT / 2)
                store = from_url(url, retry_config={"max_retries": 3, "retry_timeout": half})
        except (BaseError, ValueError) as error:
            raise ValueError(f"--render-store-url: {_first_line(error)}") from None
        host = parts.netloc.rpartition("@")[2]
        return RenderStore(store, name=urlunsplit((parts.scheme, host, parts.path, "", "")))

    def __repr__(self) -> str:
        return f"RenderStore({self._name!r})"

    async def create(self, path: str, data: bytes) -> bool:
        """Write what is not there yet; False if it is there already.

        Raises:
            DeployFailed: the store failed.
        """
        try:
            async with self._guarded("write"):
                await self._store.put_async(path, data, mode="create")
        except AlreadyExistsError:
            return False
        return True

    async def write(self, path: str, data: bytes) -> None:
        """Write, in place of what was there.

        Raises:
            DeployFailed: the store failed.
        """
        async with self._guarded("write"):
            await self._store.put_async(path, data)

    async def read(self, path: str) -> bytes | None:
        """Return the bytes, or None.

        Raises:
            DeployFailed: the store failed.
        """
        async with self._guarded("read"):
            try:
                found = await self._store.get_async(path)
            except FileNotFoundError:
                return None
            return bytes(await found.bytes_async())

    async def stat(self, path: str) -> Listed | None:
        """Tell what is there without reading it; None where nothing is.

        Raises:
            DeployFailed: the store failed.
        """
        async with self._guarded("read"):
            try:
                return _listed(await self._store.head_async(path))
            except FileNotFoundError:
                return None

    async def list(self, folder: str) -> list[Listed]:
        """Return everything in a folder, in no order.

        Raises:
            DeployFailed: the store failed.
        """
        async with self._guarded("list"):
            return [_listed(each) async for chunk in self._store.list(folder) for each in chunk]

    async def delete(self, path: str) -> None:
        """Delete; nothing happens if nothing is there.

        Raises:
            DeployFailed: the store failed.
        """
        async with self._guarded("delete"):
            with suppress(FileNotFoundError):
                await self._store.delete_async(path)

    @asynccontextmanager
    async def _guarded(self, verb: str) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(TIMEOUT):
                yield
        except AlreadyExistsError:
            raise
        except TimeoutError:
            raise DeployFailed(
                f"render store {self._name}: cannot {verb}, no answer in {TIMEOUT:.0f} s"
            ) from None
        except (BaseError, OSError) as error:
            raise DeployFailed(f"render store {self._name}: cannot {verb}: {_first_line(error)}") from None


def _listed(meta: ObjectMeta) -> Listed:
    mark = f"{meta['e_tag']} {meta['last_modified'].isoformat()} {meta['size']}"
    return Listed(meta["path"], meta["last_modified"], mark)


def _first_line(error: BaseException) -> str:
    # The rest is a debug dump of the Rust error, request headers included.
    return str(error).partition("\n")[0][:500]
