"""Serves git repositories over HTTP(S) through `git http-backend`, with a password if wanted."""

from __future__ import annotations

import base64
import os
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


class _Server(ThreadingHTTPServer):
    def shutdown_request(self, request: Any) -> None:
        # TLS says good-bye before it closes; git takes anything else for a cut answer.
        if isinstance(request, ssl.SSLSocket):
            with suppress(OSError):
                request.unwrap()
        super().shutdown_request(request)


@dataclass
class GitServer:
    """One server on loopback."""

    root: Path
    authorization: str | None = None
    redirect_to: str | None = None
    url: str = ""
    requests: list[str] = field(default_factory=list)

    @contextmanager
    def running(self, certificate: Path | None = None) -> Iterator[GitServer]:
        server = _Server(("127.0.0.1", 0), self._handler())
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        self.url = f"{'https' if certificate else 'http'}://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield self
        finally:
            server.shutdown()
            thread.join()
            server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.0"

            def do_GET(self) -> None:
                owner.requests.append(f"{self.command} {self.path}")
                if owner.redirect_to is not None:
                    self._plain(302, Location=owner.redirect_to + self.path)
                elif owner.authorization not in (None, self.headers.get("Authorization")):
                    self._plain(401, **{"WWW-Authenticate": 'Basic realm="git"'})
                else:
                    self._git()

            do_POST = do_GET

            def log_message(self, *_: Any) -> None:
                pass

            def _plain(self, code: int, **headers: str) -> None:
                self.send_response(code)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()

            def _git(self) -> None:
                path, _, query = self.path.partition("?")
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                env = {
                    "PATH": os.environ["PATH"],
                    "GIT_PROJECT_ROOT": str(owner.root),
                    "GIT_HTTP_EXPORT_ALL": "1",
                    "GIT_CONFIG_NOSYSTEM": "1",
                    "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                    "PATH_INFO": path,
                    "QUERY_STRING": query,
                    "REQUEST_METHOD": self.command,
                    "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                    "CONTENT_LENGTH": str(len(body)),
                    "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                }
                argv = [shutil.which("git") or "git", "http-backend"]
                answer = subprocess.run(argv, input=body, env=env, capture_output=True, check=True).stdout
                head, _, content = answer.partition(b"\r\n\r\n")
                fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
                self.send_response(int(fields.pop("Status", "200").split()[0]))
                for name, value in fields.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

        return Handler


def basic(user: str, password: str) -> str:
    """Return an Authorization header."""
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
