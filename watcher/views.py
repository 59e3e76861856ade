"""What the watcher keeps of a Release and of an inventory: enough to decide, small enough for ten thousand."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from convoy.api.common import condition_of
from convoy.api.names import APPLIED, HEALTHY
from convoy.api.objects import Manifest
from convoy.api.release import Release
from convoy.api.spec_hash import spec_hash
from convoy.policy.cluster_waves import is_current
from convoy.policy.spread import stored_interval
from convoy.sync.ownership import Held, held

_BULK = ("managedFields", "labels", "ownerReferences")
_STATUS = (
    "conditions",
    "handled",
    "lastAttempted",
    "lastSuccessful",
    "lastHandledSyncAt",
    "lastHandledForceSyncAt",
    "sync",
)


@dataclass(frozen=True, slots=True)
class ReleaseView:
    """A Release without its content."""

    release: Release
    spec_hash: str
    interval: timedelta | None
    """`spec.syncPolicy.interval`: what the clock of a Release without a Drift workflow starts with."""

    @property
    def readiness(self) -> tuple[object, ...]:
        """What a higher cluster wave waits for: the statuses, and whether they are about the present spec."""
        found = [condition_of(self.release.status.conditions, kind) for kind in (APPLIED, HEALTHY)]
        return is_current(self.release), *(condition.status if condition else None for condition in found)


@dataclass(frozen=True, slots=True)
class InventoryView:
    """An inventory: who holds what, and how healthy it is."""

    held: Held

    @property
    def health(self) -> str:
        """Digest of its health data."""
        return self.held.health.digest


def view_release(tree: Manifest) -> ReleaseView:
    """Cut a Release down, with the hash of its whole spec.

    The source and content may be anything here, also something that the model refuses: what is wrong with a Release
    is for its sync to say, so the watcher must see every one.
    """
    spec, status = tree.get("spec") or {}, tree.get("status") or {}
    policy = spec.get("syncPolicy") or {}
    release = Release.model_validate(
        {
            "metadata": {name: value for name, value in tree["metadata"].items() if name not in _BULK},
            "spec": {
                "clusterRef": spec.get("clusterRef") or {"name": "?"},
                "clusterWave": spec.get("clusterWave", 0),
                "suspend": spec.get("suspend", False),
                "source": {"inline": {"files": {}}},
                "content": {"manifests": {}},
                "syncPolicy": {"automatic": policy.get("automatic", False)},
            },
            "status": {name: status[name] for name in _STATUS if name in status},
        }
    )
    return ReleaseView(release, spec_hash(tree), stored_interval(tree))


def view_inventory(tree: Manifest) -> InventoryView:
    """Cut an inventory down."""
    return InventoryView(held(tree))
