"""Which git URLs convoy takes, and where their hosts may be (D41).

git itself would also run commands (`ext::`), read local repositories and follow a host name to the metadata
service. The addresses are resolved here once and handed to git, since a name that is resolved twice may give
two answers.
"""

from __future__ import annotations

import asyncio
import re
import socket
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from convoy.api.errors import SourceNotReady, Unsupported
from convoy.kube.addresses import Networks, refusal

_FIELD: Final = "spec.source.git.url"
_SCP: Final = re.compile(
    r"(?:(?P<user>[A-Za-z0-9._-]+)@)?(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):(?P<path>(?!//|:)\S+)"
)
_PORTS: Final = {"http": 80, "https": 443, "ssh": 22}


@dataclass(frozen=True, slots=True)
class GitUrl:
    """A URL that was checked."""

    text: str
    """As git gets it; it holds no password."""
    scheme: str
    """http, https, ssh or file."""
    host: str = ""
    port: int = 0

    @property
    def is_http(self) -> bool:
        """True for http and https."""
        return self.scheme in {"http", "https"}


def parse_git_url(text: str, *, allow_file: bool) -> GitUrl:
    """Check a URL: `https://`, `http://`, `ssh://`, `user@host:path`, and `file://` where it is allowed.

    Raises:
        Unsupported: another scheme, a password in it, or no host.
    """
    if re.search(r"[\x00-\x20\x7f]", text) or text.startswith("-"):
        raise Unsupported(f"{_FIELD} holds characters that no URL has")
    if "://" not in text:
        found = _SCP.fullmatch(text)
        if found is None or found["host"].startswith("-"):
            raise Unsupported(f"{_FIELD} must be a https, http or ssh URL, or user@host:path")
        return GitUrl(text, "ssh", found["host"].strip("[]"), 22)
    try:
        parts = urlsplit(text)
        host, port, has_password = parts.hostname or "", parts.port, parts.password is not None
    except ValueError:
        raise Unsupported(f"{_FIELD} is no valid URL") from None
    if has_password:
        raise Unsupported(f"{_FIELD} holds a password: put it into the Secret of secretRef")
    if parts.scheme == "file":
        if not allow_file:
            raise Unsupported(
                f"{_FIELD}: file URLs need --allow-private-addresses, they read convoy's own disk"
            )
        return GitUrl(text, "file")
    if parts.scheme not in _PORTS:
        raise Unsupported(f"{_FIELD}: the scheme {parts.scheme!r} is not one of https, http, ssh")
    if not host or host.startswith("-") or (parts.username or "").startswith("-"):
        raise Unsupported(f"{_FIELD} has no valid host")
    return GitUrl(text, parts.scheme, host, port or _PORTS[parts.scheme])


async def safe_addresses(url: GitUrl, *, allowed: Networks = ()) -> tuple[str, ...]:
    """Resolve the URL's host and return its addresses; those in `allowed` are taken whatever they are.

    Raises:
        SourceNotReady: the name does not resolve, or one of its addresses is refused.
    """
    why = refusal(url.host, allowed=allowed)
    if why is None:
        try:
            found = await asyncio.get_running_loop().getaddrinfo(url.host, url.port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise SourceNotReady(f"{url.text}: {url.host} cannot be resolved: {error.strerror}") from None
        addresses = tuple(dict.fromkeys(str(entry[4][0]) for entry in found))
        why = next((reason for address in addresses if (reason := refusal(address, allowed=allowed))), None)
    if why is not None:
        raise SourceNotReady(f"{url.text} is refused: {why} (allowed by --allow-addresses)")
    return addresses
