"""Loopback, link-local and metadata addresses are refused, in every spelling (D41)."""

from __future__ import annotations

from ipaddress import ip_network

import pytest

from convoy.kube.addresses import AddressRefused, GuardedResolver, refusal


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.9.9.9",
        "[::1]",
        "::ffff:127.0.0.1",
        "0.0.0.0",
        "::",
        "2130706433",
        "0x7f.1",
        "127.1",
        "169.254.169.254",
        "169.254.0.9",
        "[fe80::1%25eth0]",
        "fd00:ec2::254",
        "100.100.100.200",
        "64:ff9b::a9fe:a9fe",
        "224.0.0.1",
    ],
)
def test_an_address_is_refused(host: str) -> None:
    assert refusal(host)


@pytest.mark.parametrize(
    "host", ["10.0.0.1", "192.168.1.1", "fd12::1", "8.8.8.8", "2606:4700::1", "example.org"]
)
def test_an_address_is_allowed(host: str) -> None:
    assert refusal(host) is None


async def test_a_name_is_judged_by_what_it_resolves_to() -> None:
    resolver = GuardedResolver()
    with pytest.raises(AddressRefused, match="localhost is refused"):
        await resolver.resolve("localhost", 443)
    await resolver.close()


def test_what_the_installation_allows_is_allowed() -> None:
    allowed = (ip_network("127.0.0.8/32"), ip_network("fe80::/64"))

    assert refusal("127.0.0.8", allowed=allowed) is None
    assert refusal("::ffff:127.0.0.8", allowed=allowed) is None
    assert refusal("fe80::1%eth0", allowed=allowed) is None
    assert refusal("127.0.0.1", allowed=allowed)
