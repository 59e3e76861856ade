"""Which proxy leads to the API server, chosen as kubectl chooses it.

The kubeconfig's `proxy-url`, else HTTPS_PROXY or HTTP_PROXY, unless NO_PROXY names the server; the names in capitals
win. The standard library reads these variables too, but knows no networks such as 10.0.0.0/8 in NO_PROXY, and private
API servers are excepted by just these.
"""

from __future__ import annotations

import base64
import ipaddress
import os
from dataclasses import dataclass, field
from urllib.parse import SplitResult, unquote, urlsplit

from convoy.cli.errors import Failure


@dataclass(frozen=True, slots=True)
class Proxy:
    """Where a tunnel is asked for."""

    host: str
    port: int
    authorization: str = field(default="", repr=False)


def proxy_of(url: str, *, configured: str | None) -> Proxy | None:
    """Return the proxy for a server, or None. Raises Failure if it is of a kind that is not supported."""
    server = urlsplit(url)
    if configured:
        return _read(configured, "proxy-url of the kubeconfig")
    variable = f"{server.scheme}_proxy".upper()
    given = _environment(variable)
    if not given or _is_excepted(server, _environment("NO_PROXY")):
        return None
    return _read(given if "://" in given else f"http://{given}", variable)


def _environment(name: str) -> str:
    return os.environ.get(name) or os.environ.get(name.lower()) or ""


def _read(url: str, where: str) -> Proxy:
    # The message must not show the URL: it may hold a password.
    try:
        proxy = urlsplit(url)
        host, port = proxy.hostname, proxy.port or 80
    except ValueError:
        raise Failure(f"{where} is no URL") from None
    if proxy.scheme != "http" or not host:
        raise Failure(f"{where} must be http://host:port: TLS or SOCKS to the proxy itself is not supported")
    if not proxy.username:
        return Proxy(host, port)
    pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return Proxy(host, port, f"Basic {base64.b64encode(pair.encode()).decode()}")


def _is_excepted(server: SplitResult, exceptions: str) -> bool:
    host, port = server.hostname or "", server.port or (443 if server.scheme == "https" else 80)
    address = _address(host)
    if host == "localhost" or (address is not None and address.is_loopback):
        return True
    return any(
        _matches(entry.strip().lower(), host, port, address)
        for entry in exceptions.split(",")
        if entry.strip()
    )


def _matches(
    entry: str, host: str, port: int, address: ipaddress.IPv4Address | ipaddress.IPv6Address | None
) -> bool:
    """Tell whether an entry of NO_PROXY means the server: `*`, a network, an address or a domain, with a port."""
    if entry == "*":
        return True
    if "/" in entry:
        try:
            return address is not None and address in ipaddress.ip_network(entry, strict=False)
        except ValueError:
            return False
    named, only = (entry, None) if _address(entry) is not None else _with_port(entry)
    if only is not None and only != str(port):
        return False
    if address is not None:
        return address == _address(named)
    domain = named.removeprefix("*")
    return host.endswith(domain) if domain.startswith(".") else host == domain or host.endswith(f".{domain}")


def _with_port(entry: str) -> tuple[str, str | None]:
    name, colon, port = entry.rpartition(":")
    if not colon or not port.isdigit():
        return entry.strip("[]"), None
    return name.strip("[]"), port


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
