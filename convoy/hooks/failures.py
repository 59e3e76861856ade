"""What people are told of hooks that failed: why, and what they can do about it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from convoy.api.hooks import HookStage
from convoy.api.names import CHART_HOOKS
from convoy.api.release import Release
from convoy.api.release_status import HookStatus
from convoy.hooks.plan import FAILED
from convoy.policy.decide import sync_command


def failed_runs(release: Release, stage: HookStage, render_ref: str) -> tuple[HookStatus, ...]:
    """Return the hooks of a stage whose latest run was for this render and failed."""
    own = release.lifecycle.pre_sync if stage is HookStage.PRE_SYNC else release.lifecycle.post_sync
    names = {hook.name for hook in own}
    return tuple(
        entry
        for entry in release.status.hooks
        if (entry.phase, entry.render_ref) == (FAILED, render_ref)
        and (entry.name in names or entry.name.startswith(CHART_HOOKS[stage]))
    )


def why_failed(failed: Sequence[HookStatus]) -> tuple[str, ...]:
    """Tell of each hook why it failed."""
    return tuple(f"hook {entry.name}: {entry.message}" for entry in failed)


def advice(release: Release, stage: HookStage, failed: Sequence[HookStatus]) -> str:
    """Tell what a person can do about hooks of one stage that failed.

    There is nothing to mend about an approval that nobody gave. And only a forced sync begins another rollout: after a
    rollback a plain one applies what is back.
    """
    hooks = (*release.lifecycle.pre_sync, *release.lifecycle.post_sync)
    approvals = {hook.name for hook in hooks if hook.approval is not None}
    is_rollout = stage is HookStage.PRE_SYNC and release.spec.failure_policy is not None
    command = sync_command(release) + (" --force" if is_rollout else "")
    if all(entry.name in approvals for entry in failed):
        return f"To ask again: {command}"
    return f"Mend it, then run it again: {command}"


def with_failed_post_sync(message: str, release: Release, render_ref: str) -> str:
    """Return the message of Applied with the postSync hooks that failed for this render, once.

    No pass repeats them by itself, so each one has to tell of them: they have failed until they run again.
    """
    failed = failed_runs(release, HookStage.POST_SYNC, render_ref)
    told = f"{'; '.join(why_failed(failed))}\n{advice(release, HookStage.POST_SYNC, failed)}"
    if not failed or told in message:
        return message
    return f"{message.rstrip('.')}; postSync hooks: {told}"
