"""To read a megabyte of YAML takes a second, in which the event loop answers nobody else."""

from __future__ import annotations

import threading
from typing import Any, cast

import pytest
from aiohttp.web import BaseRequest
from multidict import CIMultiDict

from convoy.server import server
from convoy.server.content import decode


class _Request:
    method = "PUT"
    headers: CIMultiDict[str] = CIMultiDict()

    async def read(self) -> bytes:
        return b'{"a":1}'


async def test_a_body_is_read_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    readers: list[threading.Thread] = []

    def noted(*values: Any) -> dict[str, Any]:
        readers.append(threading.current_thread())
        return decode(*values)

    monkeypatch.setattr(server, "decode", noted)

    assert await server._body(cast(BaseRequest, _Request())) == {"a": 1}
    assert len(readers) == 1
    assert threading.current_thread() not in readers
