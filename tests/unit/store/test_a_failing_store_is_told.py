"""A store that is slow, full, refusing or cut off: `DeployFailed` with its name and what it said, and no secret."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from convoy.api.errors import DeployFailed
from convoy.store import store as module
from convoy.store.store import RenderStore

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]

ERROR = "<?xml version='1.0'?><Error><Code>{code}</Code><Message>{text}</Message></Error>"


@asynccontextmanager
async def s3(answer: Answer) -> AsyncIterator[str]:
    """Serve one answer to everything; yields the address."""
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set what an operator sets for an S3 server of their own; nobody waits for half a minute."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "access")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    monkeypatch.setattr(module, "TIMEOUT", 10.0)


def refusal(status: int, code: str, text: str) -> Answer:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response(
            status=status, text=ERROR.format(code=code, text=text), content_type="application/xml"
        )

    return answer


@pytest.mark.parametrize(
    ("status", "code"),
    [(507, "InsufficientStorage"), (503, "SlowDown"), (500, "InternalError"), (403, "AccessDenied")],
)
async def test_what_the_store_said_is_in_the_message(
    monkeypatch: pytest.MonkeyPatch, status: int, code: str
) -> None:
    async with s3(refusal(status, code, "as it is")) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        with pytest.raises(DeployFailed, match=r"render store s3://bucket/x: cannot write: ") as caught:
            await RenderStore.open("s3://bucket/x").create("a", b"one")

    assert code in caught.value.message or str(status) in caught.value.message
    assert "hunter2" not in caught.value.message


async def test_a_store_that_does_not_answer_in_time_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    let_go = asyncio.Event()

    async def never(_: web.Request) -> web.StreamResponse:
        await let_go.wait()
        return web.Response()

    async with s3(never) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        monkeypatch.setattr(module, "TIMEOUT", 1.0)
        with pytest.raises(DeployFailed, match=r"s3://bucket/x: cannot read, no answer in 1 s"):
            await RenderStore.open("s3://bucket/x").read("a")
        let_go.set()


async def test_a_connection_that_is_cut_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async def cut(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    async with s3(cut) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        with pytest.raises(DeployFailed, match=r"s3://bucket/x: cannot (read|list)"):
            await RenderStore.open("s3://bucket/x").list("a")


async def test_a_store_that_has_a_fault_once_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    async def once(request: web.Request) -> web.StreamResponse:
        asked.append(request.method)
        return web.Response(status=503) if len(asked) == 1 else web.Response(headers={"ETag": '"1"'})

    async with s3(once) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        await RenderStore.open("s3://bucket/x").write("a", b"one")

    assert asked == ["PUT", "PUT"]
