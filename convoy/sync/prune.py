"""Step 5: delete what the inventory records and the applied render lacks, and nothing else.

The plan is pure (`convoy.sync.prune_plan`); here are the reads that it needs and the deletes that it
orders. Each delete carries the UID and the version that the decision was made on, so that an object which
somebody made anew, or annotated to be kept, in between is looked at again (D17).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from convoy.api.errors import DeployFailed, PruneFailed, WaitingForPrune
from convoy.api.objects import ObjectKey, counted
from convoy.kube.errors import ApiError, Conflict, KindUnknown, NotFound, ScopeChanged, Unreachable
from convoy.kube.resources import Resource
from convoy.kube.retry import is_retryable, with_retries
from convoy.kube.targets import Target
from convoy.sync.claims import Lookup
from convoy.sync.interruptions import Fenced, Interrupted
from convoy.sync.inventory import Record
from convoy.sync.ledger import Ledger
from convoy.sync.live import Live, find_live
from convoy.sync.ownership import NotSeen, Ownership
from convoy.sync.pool import run_pool
from convoy.sync.prune_plan import Action, Candidate, Decision, candidates, decide, exceeds, kept_unseen
from convoy.sync.rejections import Rejection, join, rejection
from convoy.sync.twins import holders_of_twin

_LOOKS = 3
"""Times that an object may change between the look and the delete; then the UID alone has to do."""


@dataclass(frozen=True, slots=True)
class Pruned:
    """What a prune did, in its order."""

    decisions: tuple[Decision, ...] = ()

    @property
    def deleted(self) -> tuple[ObjectKey, ...]:
        """The objects that were deleted."""
        return tuple(each.key for each in self.decisions if each.action is Action.DELETE)

    @property
    def kept(self) -> tuple[Decision, ...]:
        """The objects that stay, each with its reason."""
        return tuple(each for each in self.decisions if each.action is Action.KEEP)


@dataclass(frozen=True, slots=True)
class Look:
    """What was found of one candidate."""

    candidate: Candidate
    outcome: Decision | Rejection
    """A Rejection where it could not be looked at."""
    live: Live | None = None


async def look(
    target: Target,
    record: Record,
    wanted: Collection[ObjectKey],
    lookup: Lookup,
    applied_uids: Collection[str],
) -> list[Look]:
    """Return the prune plan of a record against a render, in prune order. Reads only; the preview shows it
    too."""

    async def one(candidate: Candidate) -> Look:
        key = candidate.entry.key
        unseen = kept_unseen(key, lookup(key))
        if unseen is not None:
            return Look(candidate, unseen)
        try:
            decision, live = await _decided(target, candidate, lookup, applied_uids)
        except Unreachable as error:
            raise PruneFailed(f"nothing was deleted: {error.message}") from error
        except ApiError as error:
            return Look(candidate, rejection(key, error))
        return Look(candidate, decision, live)

    return await run_pool(candidates(record, wanted), one, at_once=target.client.limits.max_in_flight)


async def _decided(
    target: Target, candidate: Candidate, lookup: Lookup, applied_uids: Collection[str]
) -> tuple[Decision, Live | None]:
    """Decide about a record by the object as it is now."""
    key = candidate.entry.key
    live = await find_live(target, key)
    holders = list(lookup(key))
    if live is not None and not holders:
        holders = await holders_of_twin(target, key, live, lookup)
    return decide(candidate, live, holders, applied_uids), live


async def prune(
    target: Target,
    ledger: Ledger,
    wanted: Collection[ObjectKey],
    ownership: Ownership,
    *,
    max_percent: int = 100,
    forced: bool = False,
    should_stop: Callable[[], bool] = lambda: False,
) -> Pruned:
    """Delete what is recorded and not in `wanted`, the keys of the render that was applied completely.

    The records stay: `write_exact` drops them. Deletes run one after the other (D19); one that fails does
    not stop the others (D20). Without candidates it costs nothing.

    A target that does not answer ends the prune at once.

    Raises:
        WaitingForPrune: more than `max_percent` would go, and the sync is not `forced`; nothing was deleted.
        PruneFailed: naming each object that could not be deleted.
        Interrupted: `should_stop` said so; a later prune goes on.
        Fenced, DeployFailed: as `Ledger.write`.
    """
    if not candidates(ledger.record, wanted):
        return Pruned()
    await ledger.begin()
    lookup = await _lookup(ledger, ownership)
    applied_uids = {entry.uid for entry in ledger.record.objects if entry.key in wanted}
    looks = await look(target, ledger.record, wanted, lookup, applied_uids)
    if not forced:
        _hold_back(
            [found.outcome for found in looks if isinstance(found.outcome, Decision)],
            ledger.record,
            max_percent,
        )
    decisions: list[Decision] = []
    faults: list[Rejection] = []
    for found in looks:
        if should_stop():
            raise Interrupted("the prune was interrupted")
        if ownership.overtook(ledger):
            raise Fenced(f"the ReleaseInventory {ledger.name} was taken over during the prune")
        outcome = await _execute(target, found, lookup, applied_uids)
        if isinstance(outcome, Decision):
            decisions.append(outcome)
        else:
            faults.append(outcome)
    if faults:
        raise PruneFailed(_failed(faults, deleted=sum(each.action is Action.DELETE for each in decisions)))
    return Pruned(tuple(decisions))


async def _lookup(ledger: Ledger, ownership: Ownership) -> Lookup:
    await ownership.synced()
    try:
        index = await ownership.as_of(ledger.resource_version)
    except NotSeen as error:
        raise DeployFailed(f"who owns the objects cannot be decided: {error}") from error
    return index.lookup(ledger.target_uid, release=ledger.name)


def _hold_back(decisions: Sequence[Decision], record: Record, max_percent: int) -> None:
    too_many = exceeds(decisions, record, max_percent)
    if too_many is not None:
        deletes, total = too_many
        raise WaitingForPrune(
            f"the prune would delete {deletes} of {total} objects, more than the {max_percent} % of "
            "spec.syncPolicy.prune.maxPercent; nothing was deleted. Raise maxPercent, bring the objects back, or "
            "force the sync (kubectl convoy release sync NAME --force)"
        )


async def _execute(
    target: Target, found: Look, lookup: Lookup, applied_uids: Collection[str]
) -> Decision | Rejection:
    """Do what the plan says about one record, looking again as long as the object changes."""
    candidate, key = found.candidate, found.candidate.entry.key
    if isinstance(found.outcome, Rejection):
        return found.outcome
    decision, live = found.outcome, found.live
    for attempt in range(_LOOKS + 1):
        # The index is asked again: another Release may have claimed it while the objects before it went.
        decision = kept_unseen(key, lookup(key)) or decision
        if decision.action is not Action.DELETE or live is None:
            return decision
        version = live.resource_version if attempt < _LOOKS else None
        try:
            await _delete(target, key, uid=live.uid, version=version)
            return decision
        except (NotFound, KindUnknown, ScopeChanged):
            return Decision(key, Action.ABSENT, "it is absent")
        except Conflict:
            pass  # changed, or made anew: looked at again below
        except Unreachable as error:
            raise PruneFailed(f"the prune ended at {key}: {error.message}") from error
        except ApiError as error:
            return rejection(key, error)
        try:
            decision, live = await _decided(target, candidate, lookup, applied_uids)
        except ApiError as error:
            return rejection(key, error)
    return Rejection(key, "it changes faster than it can be deleted")


async def _delete(target: Target, key: ObjectKey, *, uid: str, version: str | None) -> None:
    async def delete(resource: Resource) -> None:
        await target.client.delete(
            resource, key.namespace, key.name, uid=uid, resource_version=version, propagation="Background"
        )

    await with_retries(
        lambda: target.discovery.ask(key, delete),
        retry_on=lambda error: is_retryable(error) and not isinstance(error, Conflict),
    )


def _failed(faults: Sequence[Rejection], *, deleted: int) -> str:
    return f"{counted(len(faults), 'object')} could not be deleted ({deleted} were):\n{join(faults)}"
