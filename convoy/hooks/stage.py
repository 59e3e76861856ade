"""One stage of hooks, brought as far as it goes now (D27).

It looks at what is there and needs no memory but status.hooks, so it can be called again after a crash anywhere in it:

* A run is written down as Pending before its Job is made, and as Running once the Job was made. A Pending run whose Job
  is not there is made; a Running one whose Job is gone was removed by force.
* The Job's name says which run it is, and a finalizer keeps it until its result is written down. So it is made once and
  cannot vanish unseen, whatever its TTL.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from convoy.api.hooks import HookStage
from convoy.api.objects import Manifest
from convoy.api.release import Release
from convoy.api.release_status import HookStatus
from convoy.api.rendered import Render
from convoy.api.times import format_duration, format_time
from convoy.hooks.definition import ON_SUCCESS, JobTemplate, StageHook, stage_hooks
from convoy.hooks.job import JobRun, build_job, end_of, is_of, place_of, policy_of
from convoy.hooks.jobs import NoNamespace, Refused, check_job, clear, create_job, find_job, let_go
from convoy.hooks.logs import log_of
from convoy.hooks.objects import apply_objects, delete_objects
from convoy.hooks.plan import (
    APPROVED,
    FAILED,
    PENDING,
    RUNNING,
    SUCCEEDED,
    Run,
    batches,
    hook_is_over,
    is_changed,
)
from convoy.hooks.standing import Standing, changed, deadline_of, failed, making_room, waiting
from convoy.kube.targets import Target
from convoy.sync.interruptions import Fenced, Interrupted


@dataclass(frozen=True, slots=True)
class Grant:
    """A person's approval."""

    by: str
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StagePass:
    """A stage of hooks in one pass of a sync."""

    target: Target
    release: Release
    render: Render
    requested_at: str
    """The annotation value that the pass answers."""
    stage: HookStage
    runs: Iterable[Run]
    """Those that this pass has to see done."""
    grants: Mapping[str, Grant]
    """Approvals by the names of their hooks."""
    write: Callable[[Sequence[HookStatus]], Awaitable[None]]
    """Writes entries into status.hooks; raises Fenced where another attempt has gone further."""
    now: datetime
    should_stop: Callable[[], bool] = lambda: False


async def advance(stage: StagePass) -> Standing:
    """Bring a stage as far as it goes now.

    Raises:
        DeployFailed: the target did not answer.
        Interrupted, Fenced: another attempt goes on.
    """
    return await _Advance(stage).all()


class _Advance:
    def __init__(self, stage: StagePass) -> None:
        self._stage = stage
        self._client = stage.target.client
        self._numbers = {run.name: run.number for run in stage.runs}
        self._entries = {entry.name: entry for entry in stage.release.status.hooks}
        hooks = stage_hooks(stage.release, stage.render, stage.stage)
        self._hooks = [hook for hook in hooks if hook.name in self._numbers]

    async def all(self) -> Standing:
        if self._stage.stage is HookStage.PRE_SYNC and not any(map(self._has_begun, self._hooks)):
            refused = await self._check_all()
            if refused:
                return failed(self._stage.release, self._stage.stage, refused)
        for batch in batches(self._hooks):
            standing = await self._batch(batch)
            if standing is not None:
                return standing
        own = {item.key for item in self._stage.render.objects}
        for hook in self._hooks:
            await delete_objects(self._stage.target, hook.objects, keep=own)
        return Standing(True)

    async def _batch(self, batch: Sequence[StageHook]) -> Standing | None:
        """Bring one batch as far as it goes; None where all of it has succeeded."""
        other = [hook.name for hook in batch if self._has_begun_otherwise(hook)]
        if other:
            return changed(other, self._stage.now)
        busy = await self._make_room(batch)
        if busy:
            return making_room(busy, self._stage.now)
        await self._begin(batch)
        await self._take_results(batch)
        await self._let_go(batch)
        left = [hook for hook in batch if not hook_is_over(self._entries[hook.name])]
        failures = [self._entries[hook.name] for hook in batch if self._entries[hook.name].phase == FAILED]
        if failures and all(hook.is_approval for hook in left):
            # Nobody need be asked any more; whoever tries the batch again asks again.
            why = f"no longer needed, since hook {failures[0].name} failed"
            await self._write([self._ended(hook, FAILED, why) for hook in left])
            return failed(self._stage.release, self._stage.stage, failures)
        if left:
            return waiting(self._stage.release, [(hook, self._entries[hook.name]) for hook in left])
        return None

    # --- beginning ------------------------------------------------------------------------

    async def _check_all(self) -> list[HookStatus]:
        """Have the target check every Job of the stage before the first one runs, as its dry run checks objects."""
        refused: list[HookStatus] = []
        for hook in self._hooks:
            if hook.job is not None:
                why = await check_job(self._client, self._job(hook, hook.job))
                if why:
                    refused.append(_ended(_jobless(self._began(hook)), FAILED, why, self._stage.now))
        await self._write(refused)
        return refused

    async def _make_room(self, batch: Sequence[StageHook]) -> list[tuple[str, str]]:
        """Clear away the Jobs of earlier runs; return those that have not ended yet."""
        busy = []
        for hook in batch:
            entry = self._entries.get(hook.name)
            if entry is None or self._has_begun(hook):
                continue
            if (entry.run or 0) >= self._numbers[hook.name]:
                raise Fenced(f"another attempt has taken hook {hook.name} further")
            if entry.job:
                self._stop_if_asked()
                if not await clear(self._client, entry.job, uid=self._stage.release.metadata.uid):
                    busy.append((hook.name, entry.job))
        return busy

    async def _begin(self, batch: Sequence[StageHook]) -> None:
        await self._write([self._began(hook) for hook in batch if not self._has_begun(hook)])
        made = []
        for hook in batch:
            if self._entries[hook.name].phase == PENDING and not hook.is_approval:
                self._stop_if_asked()
                made.append(await self._make(hook))
        await self._write(made)

    async def _make(self, hook: StageHook) -> HookStatus:
        try:
            if hook.job is None:
                return self._ended(hook, SUCCEEDED, await apply_objects(self._stage.target, hook.objects))
            await create_job(self._client, self._job(hook, hook.job), should_stop=self._stage.should_stop)
        except NoNamespace as error:
            early = self._stage.stage is HookStage.PRE_SYNC
            hint = "; a preSync hook runs before the render is applied" if early else ""
            return _jobless(self._ended(hook, FAILED, f"{error}{hint}"))
        except Refused as error:
            return _jobless(self._ended(hook, FAILED, str(error)))
        return self._entries[hook.name].model_copy(update={"phase": RUNNING})

    def _job(self, hook: StageHook, template: JobTemplate) -> Manifest:
        metadata = self._stage.release.metadata
        run = JobRun(
            release=f"{metadata.namespace}/{metadata.name}",
            uid=metadata.uid,
            render_ref=self._stage.render.ref,
            hook=hook.name,
            number=self._numbers[hook.name],
        )
        return build_job(template, run, timeout=hook.timeout)

    # --- results --------------------------------------------------------------------------

    async def _take_results(self, batch: Sequence[StageHook]) -> None:
        ended = []
        for hook in batch:
            if not hook_is_over(self._entries[hook.name]):
                found = self._answer(hook) if hook.is_approval else await self._result(hook)
                if found is None and self._stage.now >= deadline_of(hook, self._entries[hook.name]):
                    found = self._ended(hook, FAILED, await self._overdue(hook))
                if found is not None:
                    ended.append(found)
        await self._write(ended)

    async def _result(self, hook: StageHook) -> HookStatus | None:
        place = self._entries[hook.name].job or ""
        job = await find_job(self._client, place)
        if job is None:
            return self._ended(hook, FAILED, f"the Job {place} was removed by force while it ran")
        end = end_of(job)
        if end is None:
            return None
        if end.succeeded:
            return self._ended(hook, SUCCEEDED)
        return self._ended(hook, FAILED, f"the Job {place}: {end.message}; {await log_of(self._client, job)}")

    def _answer(self, hook: StageHook) -> HookStatus | None:
        grant = self._stage.grants.get(hook.name)
        return approved(self._entries[hook.name], grant) if grant is not None else None

    async def _overdue(self, hook: StageHook) -> str:
        within = format_duration(timedelta(seconds=hook.timeout))
        if hook.is_approval:
            return f"nobody approved it within {within}"
        place = self._entries[hook.name].job or ""
        job = await find_job(self._client, place)
        told = await log_of(self._client, job) if job is not None else "it is gone"
        return f"the Job {place} did not end within {within}; {told}"

    async def _let_go(self, batch: Sequence[StageHook]) -> None:
        """Let the Jobs go whose results are written down, also in an earlier attempt that died here."""
        for hook in batch:
            entry = self._entries[hook.name]
            if entry.job is None or not hook_is_over(entry):
                continue
            job = await find_job(self._client, entry.job)
            if job is not None and is_of(job, self._stage.release.metadata.uid):
                goes = entry.phase == SUCCEEDED and policy_of(job) == ON_SUCCESS
                # Whatever its policy: what has not ended by its deadline must not do its work after its failure.
                await let_go(self._client, job, delete=goes or end_of(job) is None)

    # --- entries --------------------------------------------------------------------------

    def _has_begun(self, hook: StageHook) -> bool:
        entry, run = self._entries.get(hook.name), (self._stage.render.ref, self._numbers[hook.name])
        return entry is not None and (entry.render_ref, entry.run) == run

    def _has_begun_otherwise(self, hook: StageHook) -> bool:
        """Tell whether the hook was changed since the pass began: the next pass makes another run of it."""
        entry = self._entries.get(hook.name)
        begun = entry is not None and self._has_begun(hook) and not hook_is_over(entry)
        return entry is not None and begun and is_changed(hook, entry)

    def _began(self, hook: StageHook) -> HookStatus:
        fields = {
            "name": hook.name,
            "renderRef": self._stage.render.ref,
            "run": self._numbers[hook.name],
            "phase": PENDING,
            "job": place_of(self._job(hook, hook.job)) if hook.job is not None else None,
            "requestedAt": self._stage.requested_at or None,
            "definition": hook.definition or None,
            "startedAt": format_time(self._stage.now),
        }
        return HookStatus.model_validate(fields)

    def _ended(self, hook: StageHook, phase: str, message: str = "") -> HookStatus:
        return _ended(self._entries[hook.name], phase, message, self._stage.now)

    async def _write(self, entries: Sequence[HookStatus]) -> None:
        if entries:
            await self._stage.write(entries)
            self._entries |= {entry.name: entry for entry in entries}

    def _stop_if_asked(self) -> None:
        if self._stage.should_stop():
            raise Interrupted("interrupted between two hooks")


def approved(entry: HookStatus, grant: Grant) -> HookStatus:
    """Return the result of a run of an approval hook that a person lets go on."""
    return entry.model_copy(update={"phase": APPROVED, "approved_by": grant.by, "finished_at": grant.at})


def _jobless(entry: HookStatus) -> HookStatus:
    """Name no Job: the target refused it, so there never was one."""
    return entry.model_copy(update={"job": None})


def _ended(entry: HookStatus, phase: str, message: str, now: datetime) -> HookStatus:
    update = {"phase": phase, "finished_at": format_time(now)} | ({"message": message} if message else {})
    return entry.model_copy(update=update)
