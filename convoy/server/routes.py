"""From a method and a path to the subresource that answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from convoy.server.answers import Answer
from convoy.server.approve import approve
from convoy.server.authorize import Access
from convoy.server.call import Call
from convoy.server.check import check
from convoy.server.diff import diff
from convoy.server.history import history
from convoy.server.names import API_VERSION, SUBRESOURCES, VERBS
from convoy.server.pin import delete_pin, read_pin, write_pin
from convoy.server.preview import preview
from convoy.server.refusals import NotAllowed, NotFound
from convoy.server.replacing import read_lifecycle, read_mutations, write_lifecycle, write_mutations
from convoy.server.sync import sync

Handler = Callable[[Call], Awaitable[Answer]]

HANDLERS: Final[Mapping[tuple[str, str], Handler]] = {
    ("approve", "POST"): approve,
    ("check", "POST"): check,
    ("diff", "GET"): diff,
    ("history", "GET"): history,
    ("lifecycle", "GET"): read_lifecycle,
    ("lifecycle", "PUT"): write_lifecycle,
    ("mutations", "GET"): read_mutations,
    ("mutations", "PUT"): write_mutations,
    ("pin", "GET"): read_pin,
    ("pin", "PUT"): write_pin,
    ("pin", "DELETE"): delete_pin,
    ("preview", "GET"): preview,
    ("sync", "POST"): sync,
}

_ROOT: Final = f"/apis/{API_VERSION}/namespaces/"


@dataclass(frozen=True, slots=True)
class Route:
    """What a request asks for."""

    access: Access
    handler: Handler
    method: str

    @property
    def writes(self) -> bool:
        """Whether it is worth an audit line."""
        return self.method != "GET"


def route(method: str, raw_path: str) -> Route:
    """Find the subresource.

    `raw_path` is the path before percent-decoding: a name cannot hold a slash, however it is written.

    Raises:
        NotFound: there is nothing at this path.
        NotAllowed: the subresource has no such method.
    """
    parts = raw_path.removeprefix(_ROOT).split("/") if raw_path.startswith(_ROOT) else []
    if len(parts) != 4 or parts[1] != "releases" or parts[3] not in SUBRESOURCES:
        raise NotFound("the server could not find the requested resource")
    namespace, name, subresource = unquote(parts[0]), unquote(parts[2]), parts[3]
    if not namespace or not name or "/" in namespace + name:
        raise NotFound("the server could not find the requested resource")
    handler = HANDLERS.get((subresource, method))
    if handler is None:
        allowed = ", ".join(SUBRESOURCES[subresource][1])
        raise NotAllowed(f"releases/{subresource} has no {method}; it has {allowed}", name=name)
    return Route(Access(VERBS[method], namespace, name, subresource), handler, method)
