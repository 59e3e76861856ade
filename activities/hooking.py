"""The hooks of a stage, as far as they go now (D27): `convoy.hooks` on the Release, its target and its status."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, Literal

from temporalio import activity

from activities.context import this_release
from activities.lease import Lease
from activities.own_release import read_release, write_release_status
from activities.services import Services
from activities.stage import open_stage
from convoy.api.errors import HookFailed
from convoy.api.hooks import HookStage
from convoy.api.names import MANAGER_PROGRESS
from convoy.api.objects import Manifest
from convoy.api.release_status import HookStatus
from convoy.hooks.definition import stage_hooks
from convoy.hooks.entries import read_entries, with_entries
from convoy.hooks.plan import APPROVED, FAILED, PENDING, SUCCEEDED, Run
from convoy.hooks.stage import Grant, StagePass, advance, approved
from convoy.hooks.standing import Standing
from convoy.kube.errors import NotFound
from convoy.sync.interruptions import Fenced
from workflows.contract import Activity, ApproveInput, HooksAnswer, HooksInput, Watch

AGAIN_SECONDS: Final = 30.0
"""When to look again at Jobs whose end nobody told of."""

_EVENTS: Final[dict[str, tuple[str, Literal["Normal", "Warning"]]]] = {
    SUCCEEDED: ("HookSucceeded", "Normal"),
    FAILED: ("HookFailed", "Warning"),
    APPROVED: ("HookApproved", "Normal"),
}


class Hooking:
    """The activities `run-hooks` and `approve-hook`."""

    def __init__(self, services: Services) -> None:
        self._services = services

    @activity.defn(name=Activity.RUN_HOOKS)
    async def run_hooks(self, asked: HooksInput) -> HooksAnswer:
        """Bring a stage of hooks as far as it goes now; what it waits for is in the answer.

        Raises:
            HookFailed: a preSync hook has failed.
            DeployFailed: before the sync: the target did not answer.
            ClusterNotReady: the target cannot be connected to.
            RenderMissing: the render is gone from the working store.
            Interrupted, Fenced: another attempt goes on, or the Release is gone.
        """
        async with Lease() as lease:
            standing = await self._advance(asked, lease)
        if standing.done and standing.failures and asked.stage is HookStage.PRE_SYNC:
            raise HookFailed(standing.message)
        if standing.jobs:
            await self._services.signals.watch(this_release(), Watch(asked.plan.uid, jobs=standing.jobs))
        return HooksAnswer(
            done=standing.done,
            reason=standing.reason,
            message=standing.message,
            deadline=_look_again(standing),
            awaits=standing.awaits,
        )

    @activity.defn(name=Activity.APPROVE_HOOK)
    async def approve_hook(self, asked: ApproveInput) -> str:
        """Write down who lets a hook go on, before he is told that it counts; returns why it does not, if so."""
        name, hook = this_release(), asked.run.name
        async with Lease():
            try:
                tree = await read_release(self._services.home, asked.uid)
            except NotFound:
                return f"Release {name} is gone"
            waits = read_entries(tree).get(hook)
            if waits is None or (waits.render_ref, waits.run) != (asked.render_ref, asked.run.run):
                return f"hook {hook} is asked anew: look what it waits for now"
            grant = Grant(asked.approved.by, asked.approved.at)
            try:
                await self._write(asked.uid, [approved(waits, grant)], (), {hook})
            except Fenced:
                return f"hook {hook} does not wait any more: look at what has become of it"
        return ""

    async def _advance(self, asked: HooksInput, lease: Lease) -> Standing:
        plan = asked.plan
        stage = await open_stage(self._services, plan)
        hooks = stage_hooks(stage.release, stage.render, asked.stage)
        names = [hook.name for hook in hooks]
        approvals = {hook.name for hook in hooks if hook.is_approval}

        async def write(entries: Sequence[HookStatus]) -> None:
            await self._write(plan.uid, entries, names, approvals)

        return await advance(
            StagePass(
                target=stage.target,
                release=stage.release,
                render=stage.render,
                requested_at=plan.requested_at,
                stage=asked.stage,
                runs=[Run(run.name, run.run) for run in plan.runs(asked.stage)],
                grants={one.hook: Grant(one.by, one.at) for one in asked.approvals},
                write=write,
                now=datetime.now(UTC),
                should_stop=lease.should_stop,
            )
        )

    async def _write(
        self, uid: str, entries: Sequence[HookStatus], order: Sequence[str], approvals: set[str]
    ) -> None:
        """Write entries into status.hooks, and tell of them by events."""
        before: dict[str, HookStatus] = {}

        def build(tree: Manifest) -> Manifest | None:
            before.clear()
            before.update(read_entries(tree))
            return with_entries(tree, entries, order=order)

        tree = await write_release_status(self._services.home, uid, build, manager=MANAGER_PROGRESS)
        if tree is None:
            raise Fenced(f"Release {this_release()} is gone")
        for entry in entries:
            if before.get(entry.name) != entry:
                await self._tell(tree, entry, waits=entry.name in approvals)

    async def _tell(self, tree: Manifest, entry: HookStatus, *, waits: bool) -> None:
        reason, kind = _EVENTS.get(entry.phase or "", ("HookStarted", "Normal"))
        if entry.phase == PENDING:
            if not waits:
                return  # told once its Job is there
            reason = "ApprovalWanted"
        told = [f"hook {entry.name}, run {entry.run}"]
        told += [f"Job {entry.job}"] if entry.job and entry.job not in (entry.message or "") else []
        told += [f"approved by {entry.approved_by}"] if entry.approved_by else []
        told += [entry.message] if entry.message else []
        await self._services.events.emit(tree, reason=reason, note=": ".join(told), type=kind, action="Hook")


def _look_again(standing: Standing) -> float:
    """Return when to call again: at the deadline, and now and then while a Job runs, should its end not be told."""
    again = datetime.now(UTC).timestamp() + AGAIN_SECONDS
    return min(standing.deadline, again) if standing.jobs else standing.deadline
