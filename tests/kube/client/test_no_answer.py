"""A server that does not answer as it should ends the request as Unreachable or ServerFault, in time."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from aiohttp import web

from convoy.kube.client import Endpoint, KubeClient, Limits
from convoy.kube.errors import ApiError, ServerFault, Unreachable
from convoy.kube.resources import CONFIG_MAPS
from tests.kube.client.conftest import client_of

Stream = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
SHORT = Limits(connect_timeout=1.0, request_timeout=2.0)
VALUE = "pear-blossom"


@asynccontextmanager
async def client_of_socket(talk: Stream, *, scheme: str = "http") -> AsyncIterator[KubeClient]:
    """A client of a server that speaks whatever `talk` writes."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await talk(reader, writer)
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    endpoint = Endpoint(server=f"{scheme}://127.0.0.1:{port}", ssl=ssl.create_default_context())
    async with server, KubeClient(endpoint, limits=SHORT) as client:
        yield client


async def failure(client: KubeClient) -> ApiError:
    with pytest.raises(ApiError) as caught:
        await client.get(CONFIG_MAPS, "default", "it")
    return caught.value


async def black_hole(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(-1)


async def test_a_black_hole_ends_at_the_request_timeout() -> None:
    async with client_of_socket(black_hole) as client:
        error = await failure(client)
    assert type(error) is Unreachable
    assert error.message == f"{client.endpoint.server}: no answer within 2 s"
    assert error.is_retryable


async def test_a_black_hole_before_tls_ends_at_the_connect_timeout() -> None:
    async with client_of_socket(black_hole, scheme="https") as client:
        error = await failure(client)
    assert type(error) is Unreachable
    assert error.message == f"{client.endpoint.server}: no connection within 1 s"


async def test_a_body_that_never_ends_is_bounded_by_the_request_timeout() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        while True:
            writer.write(b"1\r\n \r\n")
            await writer.drain()
            await asyncio.sleep(0.01)

    async with client_of_socket(talk) as client:
        assert type(await failure(client)) is Unreachable


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000 + b"\r\n\r\n",
    ],
    ids=["closed", "other-protocol", "cut-body", "bad-gzip", "bad-chunk", "long-header"],
)
async def test_a_broken_answer_is_unreachable(answer: bytes) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()

    async with client_of_socket(talk) as client:
        assert type(await failure(client)) is Unreachable


async def test_a_reset_is_unreachable() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.transport.abort()

    async with client_of_socket(talk) as client:
        assert type(await failure(client)) is Unreachable


@pytest.mark.parametrize(
    "server",
    ["https://127.0.0.1:1", "https://no-such-host.invalid", "http://[::1]:1"],
    ids=["refused", "unknown-name", "refused-v6"],
)
async def test_a_server_that_is_not_there_is_unreachable_and_named(server: str) -> None:
    async with KubeClient(Endpoint(server=server, ssl=ssl.create_default_context())) as client:
        error = await failure(client)
    assert type(error) is Unreachable
    assert error.message.startswith(f"{server}: ")


async def test_a_certificate_of_somebody_else_is_unreachable(home: KubeClient) -> None:
    async with KubeClient(replace(home.endpoint, ssl=ssl.create_default_context())) as client:
        error = await failure(client)
    assert type(error) is Unreachable
    assert "certificate" in error.message.lower()


async def test_a_redirect_is_not_followed() -> None:
    followed: list[str] = []

    async def handler(request: web.Request) -> web.StreamResponse:
        followed.append(request.path)
        raise web.HTTPTemporaryRedirect("/elsewhere")

    async with client_of(handler) as client:
        error = await failure(client)
    assert type(error) is ServerFault
    assert followed == ["/api/v1/namespaces/default/configmaps/it"]


@pytest.mark.parametrize("status", [200, 400, 403, 404, 500, 502])
async def test_a_body_that_is_no_status_never_enters_an_error(status: int) -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        return web.Response(status=status, text=f"<html>{VALUE}</html>")

    async with client_of(handler) as client:
        error = await failure(client)
    assert VALUE not in repr((error.message, error.args, error.causes))


async def test_a_closed_client_is_unreachable() -> None:
    client = KubeClient(Endpoint(server="http://127.0.0.1:1"))
    await client.close()
    assert type(await failure(client)) is Unreachable
