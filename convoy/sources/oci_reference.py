"""Names in an OCI registry. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from convoy.api.errors import Unsupported

_FIELD: Final = "spec.source.oci.url"
_URL: Final = re.compile(
    r"oci://(?P<host>(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?)/(?P<repository>[^?#]+?)/?"
)
_REPOSITORY: Final = re.compile(r"[a-z0-9]+(?:(?:\.|_|__|-+|/)[a-z0-9]+)*")
_TAG: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
_HOSTS: Final = {"docker.io": "registry-1.docker.io", "index.docker.io": "registry-1.docker.io"}


@dataclass(frozen=True, slots=True)
class OciName:
    """A repository in a registry."""

    host: str
    """With its port, as it is connected to."""
    repository: str
    scheme: str

    def url(self, rest: str) -> str:
        """Return a URL of the distribution API: `manifests/…`, `blobs/…`, `tags/list`."""
        return f"{self.scheme}://{self.host}/v2/{self.repository}/{rest}"

    def __str__(self) -> str:
        """As messages have it."""
        return f"oci://{self.host}/{self.repository}"


def parse_oci_url(text: str, *, insecure: bool) -> OciName:
    """Read `oci://host[:port]/repository`.

    Raises:
        Unsupported: it is something else; a tag belongs into `tag`.
    """
    match = _URL.fullmatch(text)
    if match is None or not _REPOSITORY.fullmatch(match["repository"]):
        raise Unsupported(
            f"{_FIELD} must be oci://host/repository in lower case, without user, tag and digest (those have fields)"
        )
    return OciName(
        _HOSTS.get(match["host"], match["host"]), match["repository"], "http" if insecure else "https"
    )


def check_tag(tag: str) -> str:
    """Return a tag; raise Unsupported if it is none."""
    if not _TAG.fullmatch(tag):
        raise Unsupported(f"spec.source.oci.tag: {tag!r} is no tag")
    return tag
