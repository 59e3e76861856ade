"""What goes into the normaliser and what comes out of it.

`Render` and `RenderedObject` live in `convoy.api`, since the render store below this room speaks of them too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from convoy.api.rendered import Render, RenderedObject
from convoy.kube.discovery import Capabilities

__all__ = ["Capabilities", "File", "Render", "RenderedObject", "Scope"]


@dataclass(frozen=True, slots=True)
class File:
    """A file with manifests."""

    path: str
    """Relative to the content folder, with `/`: it orders the render and names the file in messages."""
    data: bytes = field(repr=False)


class Scope(Protocol):
    """What the target cluster knows about a kind. `convoy.kube.discovery.Discovery` is one."""

    async def namespaced(self, group: str, kind: str) -> bool | None:
        """Return whether objects of the kind live in a namespace; None if the cluster does not know it."""

    async def capabilities(self) -> Capabilities:
        """Return the cluster's version and API list as of now."""
