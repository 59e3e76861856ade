"""Ports of the local stack."""

from __future__ import annotations

import socket

from deploy.stack.ports import LOOPBACK, free_ports, is_free


def test_ports_are_free_and_all_different() -> None:
    ports = free_ports(7)

    assert len(set(ports)) == 7
    assert all(is_free(port) for port in ports)


def test_a_port_that_a_server_listens_on_is_not_free() -> None:
    with socket.create_server((LOOPBACK, 0)) as server:
        assert not is_free(server.getsockname()[1])
