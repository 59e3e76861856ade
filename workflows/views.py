"""What the query `state` answers: for operators, and for whoever waits for a workflow."""

from __future__ import annotations

from dataclasses import dataclass

from workflows.contract import DriftReport, Plan, Watch


@dataclass(frozen=True, slots=True)
class SyncView:
    """The answer of query `state`."""

    phase: str
    plan: Plan
    waves_done: int
    pending: int
    reason: str
    message: str
    deadline: str = ""
    """Until when the run waits; empty where it does not wait, or for ever."""
    awaits: tuple[str, ...] = ()
    """The approval hooks that update `approve` is accepted for."""


@dataclass(frozen=True, slots=True)
class DriftView:
    """The answer of query `state`."""

    last: DriftReport | None
    passes: int
    failures: int
    next_tick: str
    next_try: str
    rollout_due: str
    pending: int


@dataclass(frozen=True, slots=True)
class HealthView:
    """The answer of query `state`."""

    render: Watch | None
    jobs: Watch | None
    phase: str
    message: str
