"""The prune plan of a preview: the plan of the sync itself, on a render that was not applied yet."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import UNSET

from convoy.api.objects import ObjectKey
from convoy.api.release import Release
from convoy.api.rendered import Render, RenderedObject
from convoy.kube.targets import Target
from convoy.server.answers import PruneDecision, PrunePlan
from convoy.sync.claims import Lookup
from convoy.sync.inventory import Record
from convoy.sync.live import find_live
from convoy.sync.pool import run_pool
from convoy.sync.prune import Look, look
from convoy.sync.prune_plan import Candidate, Decision, candidates, exceeds

_OFF = "spec.syncPolicy.prune.orphaned is false: only its record goes"


async def prune_plan(
    release: Release, render: Render, *, target: Target, record: Record, lookup: Lookup
) -> PrunePlan:
    """Return what a sync of the render would do with what it no longer contains.

    `record` is the inventory with the render's keys planned, as it stands before the first apply.

    Raises:
        PruneFailed: the target does not answer.
    """
    policy = release.spec.sync_policy.prune
    wanted = {item.key for item in render.objects}
    found = candidates(record, wanted)
    if not policy.orphaned:
        kept = tuple(
            PruneDecision.of(each.entry.key, wave=each.entry.wave, action="keep", reason=_OFF)
            for each in found
        )
        return PrunePlan(enabled=False, objects=kept)
    if not found:
        return PrunePlan(enabled=True)
    applied = {entry.uid for entry in record.objects if entry.key in wanted}
    applied |= await _twins(render, found, target)
    looks = await look(target, record, wanted, lookup, applied)
    decisions = [each.outcome for each in looks if isinstance(each.outcome, Decision)]
    too_many = exceeds(decisions, record, policy.max_percent)
    held = (
        f"the prune would delete {too_many[0]} of {too_many[1]} objects, more than the {policy.max_percent} % of "
        "spec.syncPolicy.prune.maxPercent: a sync that is not forced holds WaitingForPrune"
        if too_many
        else UNSET
    )
    return PrunePlan(enabled=True, objects=tuple(map(_line, looks)), message=held)


async def _twins(render: Render, found: Collection[Candidate], target: Target) -> set[str]:
    """Return the UIDs of wanted objects that may be a candidate under another group: the apply would tell them."""
    places = {_place(each.entry.key) for each in found}

    async def uid(item: RenderedObject) -> str:
        live = await find_live(target, item.key)
        return live.uid if live is not None else ""

    twins = [item for item in render.objects if _place(item.key) in places]
    return set(await run_pool(twins, uid, at_once=target.client.limits.max_in_flight)) - {""}


def _place(key: ObjectKey) -> tuple[str, str, str]:
    return key.kind, key.namespace, key.name


def _line(found: Look) -> PruneDecision:
    entry, outcome = found.candidate.entry, found.outcome
    if isinstance(outcome, Decision):
        return PruneDecision.of(
            entry.key, wave=entry.wave, action=outcome.action.value, reason=outcome.reason
        )
    return PruneDecision.of(entry.key, wave=entry.wave, action="unknown", reason=outcome.message)
