"""Which hooks a pass has to see done, and the number of each one's run (D27). Pure.

The number is fixed when the pass begins and is a part of the Job's name, so that no crash runs a hook twice. What has
run stands in status.hooks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from convoy.api.hooks import HookStage
from convoy.api.release import Release
from convoy.api.release_status import HookStatus
from convoy.hooks.definition import StageHook
from convoy.policy.request import requested_at
from convoy.policy.trigger import LOOKS, REQUESTED_BY, Trigger

PENDING, RUNNING, SUCCEEDED, FAILED, APPROVED = "Pending", "Running", "Succeeded", "Failed", "Approved"
SUPERSEDED = "Superseded"
"""A run that convoy itself has ended, since something else was wanted: it says nothing about the hook."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a hook that a pass has to see done."""

    name: str
    number: int
    definition: str = ""
    """Digest of the hook as the pass has read it."""


def runs_due(
    hooks: Sequence[StageHook],
    release: Release,
    *,
    render_ref: str,
    stage: HookStage,
    trigger: Trigger,
    forced: bool,
    rollback: bool = False,
) -> tuple[Run, ...]:
    """Return the runs that a pass for a render has to see done, in their order.

    `OncePerRender`: one that succeeded for this render is left out, and a preSync hook for the render that is applied.
    A run that has begun for this render goes on, also in another pass; one of which the definition was changed is made
    again as another run. A failed one is not repeated by itself. It runs again for another render, a forced sync, a new
    /sync request of a person, or once its definition was changed. Until then a preSync hook that failed is all there is
    in the answer, under its old number, so that nothing runs and its failure is reported again; a postSync hook that
    failed ends its stage.

    `EverySync`: one that succeeded runs again for the same things and for a changed spec, but for no sync of convoy's
    own (resync, self-heal, retry); one that failed also for these.

    A changed spec (a suspension that is over) asks a person anew, so that the time to answer begins again. A render
    that a `rollback` brings back had its hooks before those of the one that failed: only `EverySync` ones are due.
    """
    hooks = [hook for hook in hooks if hook.every_sync] if rollback else hooks
    known = {entry.name: entry for entry in release.status.hooks if entry.render_ref == render_ref}
    numbers = {entry.name: entry.run or 0 for entry in release.status.hooks}
    hooked = stage is HookStage.PRE_SYNC and release.status.applied_render_ref == render_ref
    found: list[Run] = []
    for batch in batches(hooks):
        failed = [hook for hook in batch if _failed(hook, known, trigger)]
        again = forced or any(_asked_again(hook, known[hook.name], release) for hook in failed)
        if failed and not again:
            going = [hook for hook in batch if hook.name in known and not hook_is_over(known[hook.name])]
            if stage is HookStage.PRE_SYNC:
                return tuple(
                    Run(hook.name, numbers[hook.name], hook.definition) for hook in (*failed, *going)
                )
            return (*found, *(Run(hook.name, numbers[hook.name], hook.definition) for hook in going))
        for hook in batch:
            entry, number = known.get(hook.name), numbers.get(hook.name, 0)
            if entry is None or entry.phase == SUPERSEDED:
                if hooked and number and not hook.every_sync:
                    continue  # it ran before this render was applied; what stands in the status is a later run
                found.append(Run(hook.name, number + 1, hook.definition))
            elif hook in failed or _is_another(hook, entry, release, trigger, forced=forced):
                found.append(Run(hook.name, number + 1, hook.definition))
            elif not hook_is_over(entry):
                found.append(Run(hook.name, number, hook.definition))
    return tuple(found)


def hook_is_over(entry: HookStatus | None) -> bool:
    """Tell whether a run has its result."""
    return entry is not None and entry.phase in (SUCCEEDED, FAILED, APPROVED, SUPERSEDED)


def is_changed(hook: StageHook, entry: HookStatus) -> bool:
    """Tell whether a hook is defined otherwise than the run that its entry tells of."""
    return entry.definition != (hook.definition or None)


def batches(hooks: Iterable[StageHook]) -> Iterator[tuple[StageHook, ...]]:
    """Yield the hooks that run side by side, in order."""
    for _, batch in groupby(hooks, key=lambda hook: hook.batch):
        yield tuple(batch)


def asked_by_a_person(release: Release) -> str | None:
    """Return the latest /sync request, or None where there is none or convoy made it itself (self-heal, health)."""
    asked = requested_at(release)
    own = [release.metadata.annotations.get(name) for name in REQUESTED_BY.values()]
    return None if asked in own else asked


def _failed(hook: StageHook, known: dict[str, HookStatus], trigger: Trigger) -> bool:
    """Tell whether a hook has failed that this pass does not repeat by itself."""
    entry = known.get(hook.name)
    return entry is not None and entry.phase == FAILED and (not hook.every_sync or trigger in LOOKS)


def _is_another(
    hook: StageHook, entry: HookStatus, release: Release, trigger: Trigger, *, forced: bool
) -> bool:
    """Tell whether a hook that has begun or ended for this render is due as another run."""
    if not hook_is_over(entry):
        return is_changed(hook, entry) or (hook.is_approval and trigger is Trigger.SPEC_CHANGED)
    asked = forced or trigger is Trigger.SPEC_CHANGED or _asked_again(hook, entry, release)
    return hook.every_sync and (asked or entry.phase == FAILED)


def _asked_again(hook: StageHook, entry: HookStatus, release: Release) -> bool:
    asked = asked_by_a_person(release)
    return is_changed(hook, entry) or (asked is not None and asked != entry.requested_at)
