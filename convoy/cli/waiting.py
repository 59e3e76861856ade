"""`sync --wait`: until the request has its result."""

from __future__ import annotations

import time
from dataclasses import dataclass

from convoy.api.conditions import DEGRADED, FAILED_ROLLOUTS, find_condition
from convoy.api.errors import Hold, Suspended, is_reason_of
from convoy.api.names import APPLIED, HEALTHY
from convoy.api.objects import Manifest
from convoy.api.times import format_duration, parse_duration
from convoy.cli.errors import Failure
from convoy.cli.progress import progress_of
from convoy.cli.session import Session
from convoy.kube.resources import RELEASES

POLL_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a request ended."""

    ok: bool
    message: str


def seconds_of(timeout: str) -> float:
    """Read a duration such as 90s or 5m. Raises Failure."""
    try:
        return parse_duration(timeout).total_seconds()
    except ValueError as error:
        raise Failure(f"--timeout: {error}", code=2) from None


def wait_for(session: Session, name: str, *, requested: str, before: Manifest, seconds: float) -> None:
    """Show progress until the request is settled and, where health is known, the objects are healthy.

    Raises:
        Failure: the sync failed, or nothing was decided in time.
        ApiError: the Release cannot be read.
    """
    deadline = time.monotonic() + seconds
    tree = before
    with progress_of(before) as progress:
        while True:
            tree = session.api.get(RELEASES, session.namespace, name)
            progress.show(tree)
            outcome = outcome_of(tree, requested)
            if outcome is not None:
                break
            if time.monotonic() >= deadline:
                raise Failure(f"timed out after {_told(seconds)}: {_standing(tree)}")
            time.sleep(min(POLL_SECONDS, max(deadline - time.monotonic(), 0.01)))
    if not outcome.ok:
        raise Failure(outcome.message)
    progress.end(outcome.message)


def outcome_of(tree: Manifest, requested: str) -> Outcome | None:
    """Return how the request ended, or None while it has not (`reference/sync-policy`)."""
    status = tree.get("status") or {}
    settled = status.get("sync") or {}
    if (settled.get("requestedAt") or "") < requested or not settled.get("settledAt"):
        return None
    if (status.get("lastHandledSyncAt") or "") >= requested:
        return _health_of(tree)
    applied = find_condition(status.get("conditions"), APPLIED) or {}
    reason = applied.get("reason") or ""
    if is_reason_of(reason, Hold) and reason != Suspended.reason:
        return None
    return Outcome(False, f"{reason}: {applied.get('message') or ''}")


def _health_of(tree: Manifest) -> Outcome | None:
    status = tree.get("status") or {}
    healthy = find_condition(status.get("conditions"), HEALTHY)
    rollout = status.get("rollout") or {}
    if rollout.get("phase") in FAILED_ROLLOUTS:
        return Outcome(False, f"rollout {rollout['phase']}: {rollout.get('message') or ''}")
    if rollout.get("phase") == "Progressing":
        return None
    if healthy is not None and healthy["status"] != "True":
        # What has failed does not become healthy by itself; what moves is waited for.
        failed = healthy.get("reason") == DEGRADED
        return Outcome(False, f"{DEGRADED}: {healthy.get('message') or ''}") if failed else None
    applied = find_condition(status.get("conditions"), APPLIED) or {}
    return Outcome(True, str(applied.get("message") or "applied"))


def _standing(tree: Manifest) -> str:
    conditions = (tree.get("status") or {}).get("conditions") or ()
    told = [
        f"{each['type']} is {each['status']} ({each.get('reason')}): {each.get('message')}"
        for each in conditions
        if each["type"] in (APPLIED, HEALTHY) and each["status"] != "True"
    ]
    return "; ".join(told) or "the request is not settled yet"


def _told(seconds: float) -> str:
    from datetime import timedelta

    return format_duration(timedelta(seconds=seconds))
