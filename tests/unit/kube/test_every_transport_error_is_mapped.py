"""Whatever aiohttp raises for a request ends as an error of the tree, never as itself."""

from __future__ import annotations

import asyncio
import ssl

import aiohttp
import pytest
from aiohttp import client_exceptions

from convoy.kube.addresses import AddressRefused
from convoy.kube.transport import _NO_ANSWER

# Errors of web sockets cannot come: no request asks for one.
NAMES = [name for name in client_exceptions.__all__ if not name.startswith("WS")]


@pytest.mark.parametrize("name", NAMES)
def test_an_error_of_aiohttp_is_mapped(name: str) -> None:
    assert issubclass(getattr(aiohttp, name), _NO_ANSWER)


@pytest.mark.parametrize(
    "error",
    [ssl.SSLError, ConnectionResetError, BrokenPipeError, asyncio.TimeoutError, AddressRefused, OSError],
)
def test_an_error_of_the_system_is_mapped(error: type[Exception]) -> None:
    assert issubclass(error, _NO_ANSWER)


def test_a_cancellation_is_not() -> None:
    assert not issubclass(asyncio.CancelledError, _NO_ANSWER)
