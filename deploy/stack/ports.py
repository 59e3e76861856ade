"""Free ports on the loopback address.

Hazard: a port that the kernel hands out (bind to 0) comes from the range of outgoing connections, so a busy
client may take it again before the server that it was picked for listens. These come from below that range.
"""

from __future__ import annotations

import random
import socket

LOOPBACK = "127.0.0.1"
_RANGE = range(20000, 32000)


def is_free(port: int) -> bool:
    """Tell whether a server could listen on this port of the loopback address now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def free_ports(count: int) -> list[int]:
    """Return `count` different free ports. Raises OSError when the range is used up."""
    found: list[int] = []
    for port in random.sample(_RANGE, len(_RANGE)):
        if is_free(port):
            found.append(port)
            if len(found) == count:
                return found
    raise OSError(f"no {count} free ports between {_RANGE.start} and {_RANGE.stop} on {LOOPBACK}")
