"""Which network addresses a tenant may not send convoy to (D41).

A Cluster or a source is written by a tenant, and convoy connects from its own network: to its loopback, to
the cloud's metadata service. The name alone proves nothing, since its owner decides what it resolves to and
may change that at any moment; so each address is judged when a connection is made.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import DefaultResolver

_METADATA = {
    ip_address(text)
    for text in (
        "169.254.169.254",
        "fd00:ec2::254",  # Amazon
        "100.100.100.200",  # Alibaba
        "168.63.129.16",  # Azure
        "192.0.0.192",  # Oracle
    )
}
_NAT64 = ip_network("64:ff9b::/96")


class AddressRefused(OSError):
    """A host resolves to an address that convoy does not connect to."""


Networks = Sequence[IPv4Network | IPv6Network]


def refusal(host: str, *, allowed: Networks = ()) -> str | None:
    """Say why an IP address is refused; None for one that is allowed, and for a name.

    A name has to be judged by what it resolves to: see `GuardedResolver`. Addresses in `allowed` are not refused.
    """
    try:
        address = ip_address(host.strip("[]").split("%")[0])
    except ValueError:
        # Forms such as 2130706433 and 0x7f.1 are no addresses here, but the C library resolves them as such.
        try:
            address = ip_address(socket.inet_aton(host))
        except (OSError, ValueError):
            return None
    if isinstance(address, IPv6Address):
        address = address.ipv4_mapped or address
    if isinstance(address, IPv6Address) and isinstance(_NAT64, IPv6Network) and address in _NAT64:
        address = ip_address(int(address) & 0xFFFFFFFF)
    if any(address in network for network in allowed):
        return None
    if address in _METADATA:
        return f"{host} is a metadata service"
    if address.is_loopback or address.is_unspecified:
        return f"{host} is a loopback address"
    if address.is_link_local:
        return f"{host} is a link-local address"
    if address.is_multicast:
        return f"{host} is a multicast address"
    return None


class GuardedResolver(AbstractResolver):
    """Resolves names, and refuses those of which any address is refused."""

    def __init__(self, allowed: Networks = ()) -> None:
        self._resolver = DefaultResolver()
        self._allowed = allowed

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Resolve a name.

        Raises:
            AddressRefused: it points to an address that is refused.
        """
        found: list[Any] = await self._resolver.resolve(host, port, family)
        for result in found:
            why = refusal(result["host"], allowed=self._allowed)
            if why is not None:
                raise AddressRefused(errno.EACCES, f"{host} is refused: {why}")
        return found

    async def close(self) -> None:
        """Close the resolver behind this one."""
        await self._resolver.close()
