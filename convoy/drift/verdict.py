"""From the result of a pass to the InSync condition (`reference/drift`, The InSync condition; D31).

The same finding must give the same text, pass after pass, since the observer writes only on a change: no
times, no order that depends on which answer came first. A message names objects and pointers, never values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from convoy.api.conditions import condition_says, cut_message
from convoy.drift.results import Counts, DriftStatus, ObjectDrift, ScanResult

OBJECTS_NAMED: Final = 10
POINTERS_NAMED: Final = 5


@dataclass(frozen=True, slots=True)
class InSyncVerdict:
    """Status, reason and message of the condition, and the counts it comes from, if anything was compared."""

    status: str
    reason: str
    message: str
    counts: Counts | None = None

    @property
    def drifted(self) -> bool:
        """Whether a pass in automatic mode asks for a sync."""
        return self.reason == "Drifted"


def verdict_of(result: ScanResult) -> InSyncVerdict:
    """Return InSync, Drifted, or Undetermined if the compare stopped: also if it had found drift by then."""
    counts = result.counts
    if result.failure is not None:
        message = f"stopped at {result.failure.key}: {result.failure.message} ({_progress(counts)})"
        return InSyncVerdict("Unknown", "Undetermined", cut_message(message), counts)
    if not result.drifted:
        return InSyncVerdict("True", "InSync", f"{_objects(counts.total)} in sync", counts)
    head = f"{len(result.drifted)} of {_objects(counts.total)} drifted"
    split = f"{counts.modified} modified, {counts.missing} missing"
    message = f"{head} ({split}): {_named(result.drifted)}"
    return InSyncVerdict("False", "Drifted", cut_message(message), counts)


def undetermined(message: str) -> InSyncVerdict:
    """Return the verdict of a pass that failed before its first object: no source, no render, no cluster."""
    return InSyncVerdict("Unknown", "Undetermined", cut_message(f"nothing compared: {message}"))


def must_write(verdict: InSyncVerdict, *, condition: Mapping[str, Any] | None, generation: int) -> bool:
    """Return whether the condition on the Release (None: there is none) says something else than the verdict.

    That is its status, reason or message, or the generation of the Release that it was written for.
    """
    status, reason, message = verdict.status, verdict.reason, verdict.message
    return not condition_says(condition, status=status, reason=reason, message=message, generation=generation)


def _progress(counts: Counts) -> str:
    return (
        f"compared {counts.compared} of {_objects(counts.total)}: "
        f"{counts.in_sync} in sync, {counts.modified} modified, {counts.missing} missing"
    )


def _objects(count: int) -> str:
    return f"{count} object" if count == 1 else f"{count} objects"


def _named(drifted: tuple[ObjectDrift, ...]) -> str:
    return "; ".join(_limited([_describe(found) for found in drifted[:OBJECTS_NAMED]], len(drifted)))


def _describe(found: ObjectDrift) -> str:
    if found.status is DriftStatus.MISSING:
        return f"{found.key} is missing"
    fields = [
        change.pointer + (f" (owned by {change.owner.manager})" if change.owner else "")
        for change in found.changes[:POINTERS_NAMED]
    ]
    return f"{found.key} at " + ", ".join(_limited(fields, len(found.changes)))


def _limited(named: list[str], total: int) -> list[str]:
    return [*named, f"and {total - len(named)} more"] if total > len(named) else named
