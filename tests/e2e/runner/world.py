"""What a run of a case knows: where its Releases are, and what the last steps found."""

from __future__ import annotations

from dataclasses import dataclass, field

from convoy.api.objects import ObjectKey
from convoy.drift.results import ObjectDrift
from tests.e2e.harness.convoy import Convoy
from tests.e2e.runner.case import Case
from workflows.contract import DriftReport, ReleaseId


class CaseFailed(Exception):
    """A case is not as expected; the message says which step and what it found."""


@dataclass(frozen=True, slots=True)
class LastPass:
    """The latest drift pass of a Release, with the findings of the objects that are not in sync."""

    report: DriftReport
    found: dict[str, ObjectDrift]


@dataclass(slots=True)
class World:
    """One run of one case."""

    convoy: Convoy
    case: Case
    namespace: str
    """Where the Releases are."""
    log_mark: int
    passes: dict[str, LastPass] = field(default_factory=dict)
    remembered: dict[ObjectKey, str] = field(default_factory=dict)

    def release(self, name: str) -> ReleaseId:
        """Return the identity of a Release of the case."""
        return ReleaseId(self.namespace, name)
