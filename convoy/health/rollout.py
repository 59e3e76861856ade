"""The rollout of a Release with a `failurePolicy` (D28), as one pure function on `status.rollout`.

    a sync begins ──▶ Progressing ──▶ Healthy       the render is applied and healthy
    with a render         │
                          │ its time is up, or a preSync hook failed
                          ├──▶ Failed               it is left as it is
                          └──▶ RolledBack           the last healthy render is the desired one

`renderRef` is the render that is rolled out: of a Failed or RolledBack rollout, the one that failed. Only a rollout in
Progressing can fail, so health that comes and goes later rolls nothing back. Failed and RolledBack stay until a sync
begins with another render, or by force.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from convoy.api.release import FailurePolicy
from convoy.api.release_status import Rollout
from convoy.api.rendered import brief_ref
from convoy.api.times import format_duration, format_time, second_or_none

_ROUNDED = timedelta(seconds=1)
"""`startedAt` is cut to the second, and no rollout is judged early."""

_MAX_WHY = 1000
"""Characters of what went wrong: Applied and the inventory tell it at length."""

_MEANWHILE = " Meanwhile the source gives no render: "


class RolloutPhase(StrEnum):
    """How a rollout stands."""

    PROGRESSING = "Progressing"
    HEALTHY = "Healthy"
    FAILED = "Failed"
    ROLLED_BACK = "RolledBack"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What is seen of a Release at one moment. Renders are given by their refs, an empty one is none."""

    policy: FailurePolicy | None
    now: datetime
    release: str = ""
    """As commands name it: `shop -n team`."""
    revisions: Mapping[str, str] = field(default_factory=dict)
    """The revisions of its renders, as far as the status knows them."""
    starting: str = ""
    """A sync begins to bring this render to the cluster; not told where that is a rollback."""
    forced: bool = False
    """That sync is a forced one."""
    pinned: bool = False
    """A pin decides which render is applied."""
    healthy: str = ""
    """The render that is applied as a whole and healthy."""
    last_healthy: str = ""
    """The latest render of the history that was healthy."""
    trouble: str = ""
    """Why the render that is rolled out is not applied, or not healthy."""
    hook_failed: str = ""
    """Why a preSync hook of that render failed."""
    paused: bool = False
    """The Release waits for a person: time that a person takes is not the render's."""
    obstacle: str = ""
    """Why the render store cannot give the last healthy render; empty where it can."""
    fault: str | None = None
    """Beside a rollback: why the source gives no render now; None where it was not asked."""


def next_rollout(before: Rollout | None, seen: Seen) -> Rollout | None:
    """Return the rollout after what is seen, its message included; None without a policy or before the first sync."""
    if seen.policy is None:
        return None
    if seen.starting:
        return _started(before, seen)
    if before is None:
        return None
    if before.phase == RolloutPhase.PROGRESSING:
        return _judged(before, seen, seen.policy)
    if before.phase == RolloutPhase.FAILED and seen.healthy == before.render_ref:
        # It stays Failed, but a later rollout that fails can go back to it.
        return before.model_copy(update={"last_healthy_render_ref": before.render_ref})
    if before.phase == RolloutPhase.ROLLED_BACK and seen.fault is not None:
        why = (before.message or "").split(_MEANWHILE)[0]
        fault = _MEANWHILE + _cut(seen.fault) if seen.fault else ""
        return before.model_copy(update={"message": why + fault})
    return before


def is_rolled_back(rollout: Rollout | None, ref: str) -> bool:
    """Whether this render has failed, and the last healthy one is the desired one in its place."""
    return rollout is not None and rollout.phase == RolloutPhase.ROLLED_BACK and rollout.render_ref == ref


def deadline(rollout: Rollout | None, policy: FailurePolicy | None) -> datetime | None:
    """Return when the time of a rollout is up, or None where none is running. A healthTimeout of 0 is no limit."""
    if (
        policy is None
        or not policy.health_timeout
        or rollout is None
        or rollout.phase != RolloutPhase.PROGRESSING
    ):
        return None
    started = second_or_none(rollout.started_at)
    return started + policy.health_timeout + _ROUNDED if started is not None else None


def _started(before: Rollout | None, seen: Seen) -> Rollout:
    tries_again = seen.forced or (before is not None and _pin_tries_again(before, seen))
    if before is not None and before.render_ref == seen.starting and not tries_again:
        return before
    last = before.last_healthy_render_ref if before is not None else None
    return Rollout(
        phase=RolloutPhase.PROGRESSING,
        render_ref=seen.starting,
        last_healthy_render_ref=last or seen.last_healthy or None,
        started_at=format_time(seen.now),
        message=f"The render {brief_ref(seen.starting)} is being rolled out.",
    )


def _pin_tries_again(before: Rollout, seen: Seen) -> bool:
    """Whether a person tries a failed render again: by a pin, or by taking away the one that it failed under."""
    if seen.pinned:
        return before.phase == RolloutPhase.ROLLED_BACK
    return before.phase == RolloutPhase.FAILED and bool(before.pinned)


def _judged(before: Rollout, seen: Seen, policy: FailurePolicy) -> Rollout:
    if seen.healthy and seen.healthy == before.render_ref:
        return before.model_copy(
            update={
                "phase": RolloutPhase.HEALTHY,
                "last_healthy_render_ref": before.render_ref,
                "message": f"The render {brief_ref(before.render_ref)} is applied and healthy.",
            }
        )
    if seen.hook_failed:
        return _failed(before, f"failed at a preSync hook: {seen.hook_failed}", seen, policy)
    due = deadline(before, policy)
    if seen.paused or (due is None and policy.health_timeout):
        return before.model_copy(update={"started_at": format_time(seen.now)})
    if due is not None and seen.now >= due:
        limit = format_duration(policy.health_timeout)
        why = f"was not applied and healthy within {limit}: {seen.trouble or 'its health is not known'}"
        return _failed(before, why, seen, policy)
    return before


def _failed(before: Rollout, why: str, seen: Seen, policy: FailurePolicy) -> Rollout:
    told = f"The render {_named(before.render_ref, seen)} {_cut(why).rstrip('.')}"
    last = before.last_healthy_render_ref
    if policy.action == "Hold":
        return _held(before, told, "failurePolicy.action is Hold", seen)
    if seen.pinned:
        return _held(before, told, "the Release is pinned, and only a person changes a pin", seen)
    if not last:
        return _held(before, told, "no render of this Release has been healthy yet", seen)
    if last == before.render_ref:
        return _held(before, told, "it is itself the last render that was healthy", seen)
    if seen.obstacle:
        return _held(before, told, seen.obstacle, seen)
    message = (
        f"{told}. The last healthy render {_named(last, seen)} takes its place until the source gives another "
        f"render: push a fix. To try the failed one again: kubectl convoy release sync {seen.release} --force"
    )
    return before.model_copy(update={"phase": RolloutPhase.ROLLED_BACK, "message": message})


def _named(ref: str | None, seen: Seen) -> str:
    """Name a render, and the revision that a person can look up."""
    revision = seen.revisions.get(ref or "")
    return f"{brief_ref(ref)} ({revision})" if revision else brief_ref(ref)


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_WHY else f"{text[:_MAX_WHY]}…"


def _held(before: Rollout, told: str, obstacle: str, seen: Seen) -> Rollout:
    message = (
        f"{told}. Nothing is rolled back: {obstacle}. Push a fix, go back by hand "
        f"(kubectl convoy release rollback {seen.release}), or try it again "
        f"(kubectl convoy release sync {seen.release} --force)."
    )
    update = {"phase": RolloutPhase.FAILED, "message": message, "pinned": seen.pinned or None}
    return before.model_copy(update=update)
