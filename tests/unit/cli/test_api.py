"""What stands on the wire of a request: as a server and a proxy read it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pytest

from convoy.cli.api import Api
from convoy.cli.errors import Failure
from convoy.cli.kubeconfig import Server


class Answers(HTTPServer):
    """Answers every GET with the headers that it came with, and refuses tunnels."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._answer(200)

    def do_CONNECT(self) -> None:
        self._answer(403 if self.headers["Proxy-Authorization"] else 407)

    def _answer(self, status: int) -> None:
        body = json.dumps({"headers": self.headers.items()}).encode()
        self.send_response(status, self.path)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[Answers]:
    with Answers(("127.0.0.1", 0), _Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_a_header_may_be_there_twice(server: Answers) -> None:
    groups = [("Impersonate-Group", "dev"), ("Impersonate-Group", "ops")]
    with Api(Server(server.url, "default", headers=groups)) as api:
        headers = api.call("GET", "/")["headers"]
    assert [each for each in headers if each[0] == "Impersonate-Group"] == [list(each) for each in groups]


def test_a_proxy_is_asked_for_a_tunnel_with_its_password(server: Answers) -> None:
    proxy = server.url.replace("http://", "http://user:password@")
    told = pytest.raises(Failure, match=r"http://api.example.org:81 cannot be reached: .*403")
    with Api(Server("http://api.example.org:81", "default", proxy=proxy)) as api, told as error:
        api.call("GET", "/")
    assert "password" not in error.value.message
