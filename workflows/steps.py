"""How a workflow calls an activity: explicit timeouts and retries, and failures as condition reasons.

An activity reports failure only as `ApplicationError(type=<condition reason>)` (design 04, rule 7). What is retried
by Temporal is a lost worker, a handed-over step and an unreachable home API server; every other failure becomes the
pass's outcome and is retried by the Release's own backoff.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, TypeVar

from temporalio import workflow
from temporalio.common import Priority, RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError, CancelledError
from temporalio.workflow import EventGroup

from convoy.api.errors import DeployFailed, error_classes
from workflows.contract import RENDER_MISSING, Activity, WaveHealth

T = TypeVar("T")

HEARTBEAT = timedelta(seconds=30)
"""At least as long as one request to a target may take: when it has passed, a frozen worker's last request has too."""

PATIENCE = timedelta(hours=1)
"""What all attempts of a step together get beyond the limit of one: a frozen worker's polls can swallow some."""

RETRY = RetryPolicy(
    initial_interval=timedelta(seconds=1), backoff_coefficient=2.0, maximum_interval=timedelta(seconds=30)
)


class StepFailed(Exception):
    """A step ended the pass: with a failure, or with a wait."""

    def __init__(
        self, reason: str, message: str, *, health: WaveHealth | None = None, note: str = ""
    ) -> None:
        super().__init__(f"{reason}: {message}")
        self.reason = reason
        self.message = message
        self.health = health
        """Set where it was the health of a wave."""
        self.note = note
        """What events tell, where it is not the message."""


class Waits(StepFailed):
    """The pass ends in a wait that keeps the run open (D25)."""

    def __init__(
        self,
        reason: str,
        message: str,
        *,
        deadline: float = 0.0,
        awaits: tuple[str, ...] = (),
        health: WaveHealth | None = None,
        note: str = "",
    ) -> None:
        super().__init__(reason, message, health=health, note=note)
        self.deadline = deadline
        """When the run looks again by itself, in seconds since the epoch; 0: never."""
        self.awaits = awaits
        """The approval hooks that wait for a person."""


class RenderLost(Exception):
    """The render is no longer where an earlier step put it."""


async def step(
    name: Activity,
    arg: Any,
    result_type: type[T],
    *,
    summary: str,
    limit: timedelta = timedelta(minutes=2),
    group: EventGroup | None = None,
    activity_id: str | None = None,
    fairness_key: str = "",
) -> T:
    """Run one activity. `limit` bounds one attempt; all attempts together get `PATIENCE` more.

    Raises `StepFailed` with the condition's reason, or `RenderLost`.
    """
    try:
        result: T = await workflow.execute_activity(
            name.value,
            arg,
            result_type=result_type,
            start_to_close_timeout=limit,
            schedule_to_close_timeout=limit + PATIENCE,
            heartbeat_timeout=HEARTBEAT,
            retry_policy=RETRY,
            summary=summary,
            activity_id=activity_id or name.value,  # stable, so that `temporal activity pause` can name it
            event_groups=[group] if group else None,
            priority=Priority(fairness_key=fairness_key) if fairness_key else Priority.default,
        )
    except ActivityError as error:
        raise _translate(name, error) from error
    return result


def limit_for(objects: int) -> timedelta:
    """How long one attempt of a step over so many objects may take: far above what it needs."""
    return timedelta(minutes=5) + timedelta(seconds=2) * objects


def _translate(name: Activity, error: ActivityError) -> StepFailed | RenderLost:
    cause = error.cause
    if isinstance(cause, ApplicationError):
        if cause.type == RENDER_MISSING:
            return RenderLost(cause.message)
        if cause.type in error_classes():
            return StepFailed(cause.type, cause.message)
        return StepFailed(DeployFailed.reason, f"step {name}: {cause.message}")
    if isinstance(cause, CancelledError):
        return StepFailed(DeployFailed.reason, f"step {name} was cancelled by hand")
    return StepFailed(
        DeployFailed.reason,
        f"step {name} did not finish: no worker completed it in time; its workflow in the web UI shows the attempts",
    )
