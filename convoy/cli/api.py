"""One connection to the API server with the user's own rights.

Synchronous and of the standard library: a command makes a handful of requests one after the other, and importing an
asynchronous client would cost more CPU than all of them. Answers become errors where they do everywhere else, in
`convoy.kube.classify`.
"""

from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Self
from urllib.parse import urlencode, urlsplit

from convoy.api.objects import Manifest
from convoy.cli.errors import Failure
from convoy.cli.kubeconfig import Server
from convoy.cli.proxy import proxy_of
from convoy.kube.errors import ServerFault
from convoy.kube.resources import Resource

MANAGER = "kubectl-convoy"
TIMEOUT = 30.0
"""Seconds until a request without an answer is given up."""
_PAGE = 500
_TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


class Api:
    """The API server. Connects at the first request."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._base = urlsplit(server.url)
        self._connection: http.client.HTTPConnection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._connection is not None:
            self._connection.close()

    def get(self, resource: Resource, namespace: str | None, name: str) -> Manifest:
        """Read one object. Raises ApiError."""
        return self.call("GET", resource.path(namespace, name), resource=resource, name=name)

    def list(
        self, resource: Resource, namespace: str | None, *, accept: str = "application/json", **params: str
    ) -> Iterator[Manifest]:
        """Read a list page by page, of all namespaces where `namespace` is None. Raises ApiError."""
        params["limit"] = str(_PAGE)
        while True:
            page = self.call("GET", resource.path(namespace), params=params, accept=accept, resource=resource)
            yield page
            following = (page.get("metadata") or {}).get("continue")
            if not following:
                return
            params["continue"] = following

    def tables(self, resource: Resource, namespace: str | None, **params: str) -> Iterator[Manifest]:
        """Read a list as the tables that the server prints, a page each. Raises ApiError."""
        return self.list(resource, namespace, accept=_TABLE, **params)

    def merge(self, resource: Resource, namespace: str | None, name: str, patch: Manifest) -> Manifest:
        """Send a JSON merge patch. Raises ApiError."""
        return self.call(
            "PATCH",
            resource.path(namespace, name),
            params={"fieldManager": MANAGER},
            body=patch,
            content_type="application/merge-patch+json",
            resource=resource,
            name=name,
        )

    def call(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: Manifest | None = None,
        content_type: str = "application/json",
        accept: str = "application/json",
        timeout: float = TIMEOUT,
        resource: Resource | None = None,
        name: str = "",
    ) -> Manifest:
        """Send a request and return the object that answers it.

        Raises:
            ApiError: the server refused.
            Failure: there was no answer within `timeout` seconds.
        """
        headers = [("Accept", accept), ("User-Agent", MANAGER), *self.server.headers]
        if body is not None:
            headers.append(("Content-Type", content_type))
        url = self._base.path + path + (f"?{urlencode(params)}" if params else "")
        status, answered, data = self._send(
            method, url, headers, None if body is None else json.dumps(body).encode(), timeout
        )
        if status >= 300:
            from convoy.kube.classify import error_of

            raise error_of(status, dict(answered.items()), data, resource=resource, name=name)
        try:
            tree = json.loads(data)
        except ValueError:
            raise ServerFault(f"HTTP {status} with an answer that is no JSON", status=status) from None
        if not isinstance(tree, dict):
            raise ServerFault(f"HTTP {status} with an answer that is no object", status=status)
        return tree

    def _send(
        self, method: str, url: str, headers: Sequence[tuple[str, str]], body: bytes | None, timeout: float
    ) -> tuple[int, http.client.HTTPMessage, bytes]:
        kept = self._connection is not None
        try:
            connection = self._open(timeout)
            # Not `request`, which takes a mapping: the groups to impersonate are a header each, of one name.
            connection.putrequest(method, url)
            for header, value in headers:
                connection.putheader(header, value)
            if method != "GET":
                connection.putheader("Content-Length", str(len(body or b"")))
            connection.endheaders(body)
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError) as error:
            self._drop()
            if kept and method == "GET":
                # The server closed a connection that was idle.
                return self._send(method, url, headers, body, timeout)
            raise self._unreachable(error) from None
        except TimeoutError:
            self._drop()
            raise Failure(f"{self.server.url}: no answer within {timeout:g} s") from None
        except (OSError, http.client.HTTPException) as error:
            self._drop()
            raise self._unreachable(error) from None

    def _unreachable(self, error: Exception) -> Failure:
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        if isinstance(error, ssl.SSLError):
            why = getattr(error, "verify_message", "") or error.reason or why
        return Failure(f"{self.server.url} cannot be reached: {why}")

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self, timeout: float) -> http.client.HTTPConnection:
        connection = self._connection
        if connection is None:
            connection = self._connection = _connection(self.server, timeout)
        connection.timeout = timeout
        if connection.sock is not None:
            connection.sock.settimeout(timeout)
        return connection


def _connection(server: Server, timeout: float) -> http.client.HTTPConnection:
    base = urlsplit(server.url)
    if not base.hostname:
        raise Failure(f"the kubeconfig's server {server.url!r} is no URL")
    port = base.port or (443 if server.tls else 80)
    proxy = proxy_of(server.url, configured=server.proxy)
    host, at = (proxy.host, proxy.port) if proxy is not None else (base.hostname, port)
    connection = (
        _Named(host, at, server, timeout)
        if server.tls
        else http.client.HTTPConnection(host, at, timeout=timeout)
    )
    if proxy is not None:
        headers = {"Proxy-Authorization": proxy.authorization} if proxy.authorization else {}
        connection.set_tunnel(base.hostname, port, headers=headers)
    return connection


class _Named(http.client.HTTPConnection):
    """HTTPS that expects the name which the kubeconfig gives (`tls-server-name`)."""

    def __init__(self, host: str, port: int, server: Server, timeout: float) -> None:
        super().__init__(host, port, timeout=timeout)
        self._server = server

    def connect(self) -> None:
        """Connect, through the proxy if there is one, and start TLS."""
        super().connect()
        name = self._server.server_name or urlsplit(self._server.url).hostname
        if self._server.tls is not None:
            self.sock = self._server.tls.wrap_socket(self.sock, server_hostname=name)
