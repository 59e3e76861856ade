"""What a drift pass finds: status and field changes of each object, or where the compare stopped and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from convoy.api.objects import ObjectKey
from convoy.drift.changes import FieldChange


class DriftStatus(StrEnum):
    """The status of one object, in the page's words."""

    IN_SYNC = "InSync"
    MODIFIED = "Modified"
    MISSING = "Missing"


@dataclass(frozen=True, slots=True)
class ObjectDrift:
    """One object's status, with its field changes if it is Modified. Secret values are fingerprints (D40)."""

    key: ObjectKey
    status: DriftStatus
    changes: tuple[FieldChange, ...] = ()

    def tree(self) -> dict[str, Any]:
        """Return the result as a JSON tree, as the stored changes and `/diff` hold it."""
        return {
            "group": self.key.group,
            "kind": self.key.kind,
            "namespace": self.key.namespace,
            "name": self.key.name,
            "status": self.status.value,
            "changes": [change.tree() for change in self.changes],
        }

    @staticmethod
    def from_tree(tree: Mapping[str, Any]) -> ObjectDrift:
        """Read what `tree` has written."""
        key = ObjectKey(tree["group"], tree["kind"], tree["namespace"], tree["name"])
        changes = tuple(FieldChange.from_tree(change) for change in tree["changes"])
        return ObjectDrift(key, DriftStatus(tree["status"]), changes)


@dataclass(frozen=True, slots=True)
class Counts:
    """How many objects the render has, and what became of those that were compared."""

    total: int
    in_sync: int = 0
    modified: int = 0
    missing: int = 0

    @property
    def compared(self) -> int:
        """How many objects have a status."""
        return self.in_sync + self.modified + self.missing


@dataclass(frozen=True, slots=True)
class Failure:
    """The first error in render order, at which the compare stopped (D31)."""

    key: ObjectKey
    message: str


@dataclass(frozen=True, slots=True)
class ScanResult:
    """The result of a pass over a render: objects in render order, up to the failure if there is one."""

    total: int
    objects: tuple[ObjectDrift, ...]
    failure: Failure | None = None

    @property
    def counts(self) -> Counts:
        """Count the objects by status."""
        statuses = [found.status for found in self.objects]
        return Counts(
            total=self.total,
            in_sync=statuses.count(DriftStatus.IN_SYNC),
            modified=statuses.count(DriftStatus.MODIFIED),
            missing=statuses.count(DriftStatus.MISSING),
        )

    @property
    def drifted(self) -> tuple[ObjectDrift, ...]:
        """The objects that are Modified or Missing."""
        return tuple(found for found in self.objects if found.status is not DriftStatus.IN_SYNC)
