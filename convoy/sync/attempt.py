"""One attempt to apply a render, as the status tells of it (`reference/apply-and-prune`, Status)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from convoy.api.objects import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attempt to apply a render."""

    render_ref: str
    revision: str
    trigger: str
    requested_at: str
    """The annotation value that it answers."""
    started_at: str
    objects: int
    gate: Mapping[str, Any] | None = None
    """The gate that it has found closed (`ClosedGate`)."""

    def tree(self) -> Manifest:
        """Return it as `lastAttempted`, without a result."""
        fields = {
            "renderRef": self.render_ref,
            "revision": self.revision,
            "requestedAt": self.requested_at,
            "startedAt": self.started_at,
            "trigger": self.trigger,
            "gate": self.gate,
        }
        return {name: value for name, value in fields.items() if value}
