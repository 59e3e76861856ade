"""How far a stage of hooks is, and how people are told. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from convoy.api.errors import WaitingForApproval, WaitingForHook
from convoy.api.hooks import HookStage
from convoy.api.release import Release
from convoy.api.release_status import HookStatus
from convoy.api.times import format_time, parse_time
from convoy.hooks.definition import StageHook
from convoy.hooks.failures import advice, why_failed

AGAIN_SECONDS = 5.0
"""When to look again at a Job that is being ended, and at a hook that was changed."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a stage is."""

    done: bool
    failures: tuple[str, ...] = ()
    """One for each hook that failed; its stage ends with its batch."""
    advice: str = ""
    """What a person can do about them."""
    reason: str = ""
    """Of the wait, where it is not done."""
    waits: tuple[str, ...] = ()
    """What is waited for."""
    deadline: float = 0.0
    """When to look again at the latest, in seconds since the epoch; 0: never."""
    awaits: tuple[str, ...] = ()
    """Names of the approvals that are waited for."""
    jobs: tuple[str, ...] = ()
    """The Jobs that are waited for, as `namespace/name`."""

    @property
    def message(self) -> str:
        """What to tell of it."""
        told = "; ".join((*self.failures, *self.waits))
        return f"{told}\n{self.advice}" if self.advice else told


def deadline_of(hook: StageHook, entry: HookStatus) -> datetime:
    """Return when a hook that has begun is overdue."""
    return parse_time(entry.started_at or "") + timedelta(seconds=hook.timeout)


def failed(release: Release, stage: HookStage, entries: Sequence[HookStatus]) -> Standing:
    """Return the standing of a stage that ends with these hooks, which failed."""
    return Standing(True, why_failed(entries), advice(release, stage, entries))


def waiting(release: Release, hooks: Sequence[tuple[StageHook, HookStatus]]) -> Standing:
    """Return the standing of a batch of which these hooks have not ended."""
    asked = tuple(hook.name for hook, _ in hooks if hook.is_approval)
    jobs = tuple(entry.job or "" for hook, entry in hooks if not hook.is_approval)
    return Standing(
        False,
        reason=WaitingForHook.reason if jobs else WaitingForApproval.reason,
        waits=tuple(_told(release, hook, entry) for hook, entry in hooks),
        deadline=min(deadline_of(hook, entry).timestamp() for hook, entry in hooks),
        awaits=asked,
        jobs=jobs,
    )


def changed(names: Sequence[str], now: datetime) -> Standing:
    """Return the standing of a batch in which hooks were changed after their runs began: another pass sees to that."""
    waits = tuple(f"hook {name}: it was changed while it ran, and is made again" for name in names)
    return Standing(
        False, reason=WaitingForHook.reason, waits=waits, deadline=now.timestamp() + AGAIN_SECONDS
    )


def making_room(places: Sequence[tuple[str, str]], now: datetime) -> Standing:
    """Return the standing of a batch that cannot begin before earlier runs (hook, Job) have ended."""
    waits = tuple(f"hook {name}: the Job {job} of an earlier run is being ended" for name, job in places)
    return Standing(
        False, reason=WaitingForHook.reason, waits=waits, deadline=now.timestamp() + AGAIN_SECONDS
    )


def _told(release: Release, hook: StageHook, entry: HookStatus) -> str:
    until = format_time(deadline_of(hook, entry))
    if not hook.is_approval:
        return f"hook {hook.name}: the Job {entry.job} runs, until {until} at the latest"
    metadata = release.metadata
    command = f"kubectl convoy release approve {metadata.name} -n {metadata.namespace} --hook {hook.name}"
    return f"hook {hook.name} waits for a person until {until}: {command}"
