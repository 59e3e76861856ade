"""A git server that keeps its callers waiting: a reconcile that reads from it goes on as long as a test wants."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


@asynccontextmanager
async def held_git() -> AsyncIterator[tuple[str, asyncio.Event, asyncio.Event]]:
    """Yield the URL of a git server that keeps its callers waiting until it is told to hang up."""
    arrived, let_go = asyncio.Event(), asyncio.Event()

    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        arrived.set()
        await let_go.wait()
        writer.close()

    async with await asyncio.start_server(hold, "127.0.0.1", 0) as server:
        try:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/held.git", arrived, let_go
        finally:
            let_go.set()
