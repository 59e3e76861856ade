"""Before step 1: record the keys of the render, look them up, and wait for whoever has them (D13, D14).

The order of the writes is what makes it safe. Planned first, looked up once the index has seen the write,
decided by the version of that write: of two Releases that plan one key at the same moment, the later one
sees the earlier one.

What a Release may not write it must not hold, or one tenant could block another one's objects, or make their owner
give them away. So a key becomes a claim only once a dry run as this Release's identity has shown that it may be
written, and whatever is planned and not sent goes at the end of the pass.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import partial

from convoy.api.errors import DeployFailed, WaitingForOwner
from convoy.api.objects import ObjectKey
from convoy.sync.claims import Lookup, Loss, Ruling, concede, give_up, rule
from convoy.sync.inventory import Entry, Record, plan, stamp, withdraw
from convoy.sync.ledger import Ledger
from convoy.sync.ownership import NotSeen, Ownership, OwnershipIndex

_ROUNDS = 5
"""Times that an owner may let go while its key is being claimed, until the claim waits for the next wake."""
_STAMP_WITHIN = 10.0
"""Seconds to wait for the second write of a Release that plans the same key; it takes milliseconds."""
_NAMED = 10

Prove = Callable[[Collection[ObjectKey]], Awaitable[Collection[ObjectKey]]]
"""Returns those of the keys that this Release may write, as a dry run says."""


async def claim(ledger: Ledger, wanted: Sequence[Entry], ownership: Ownership, *, prove: Prove) -> None:
    """Take all keys of a render for this Release, or none.

    `wanted` are the entries of the render in apply order. Where nothing is new it costs one write, the
    epoch's. `prove` is asked only where another Release has something.

    Raises:
        WaitingForOwner: another Release has some of them. All new ones that `prove` lets pass are claims now, and
            records that others claim and this render lacks are given up.
        Fenced, Unsupported, DeployFailed: as `Ledger.write`.
        Whatever `prove` raises; then nothing is claimed anew.
    """
    lost: tuple[Loss, ...] = ()
    proved: Collection[ObjectKey] | None = None
    for _ in range(_ROUNDS):
        lost = await _known_losses(ledger, wanted, ownership)
        if not lost:
            await _plan(ledger, wanted)
            lost = await _decide(ledger, wanted, ownership)
        if not lost:
            return
        if proved is None:
            applied = {entry.key for entry in ledger.record.objects}
            proved = await prove([entry.key for entry in wanted if entry.key not in applied])
        await _concede(ledger, wanted, lost, ownership, proved=proved)
        # Whoever let go before these claims were visible woke nobody. So they are looked up once more.
        index = await _as_of(ledger, ownership)
        lost = _still(lost, rule(ledger.record, wanted, _of(ledger, index)))
        if lost:
            break
    raise WaitingForOwner(_message(lost))


async def hold(ledger: Ledger, wanted: Sequence[Entry], ownership: Ownership, *, prove: Prove) -> None:
    """Claim again before a wave, where a wait between two waves has given the keys back. Raises as `claim`."""
    held = ledger.record.held()
    if any(entry.key not in held for entry in wanted):
        await claim(ledger, wanted, ownership, prove=prove)


async def let_go(ledger: Ledger) -> None:
    """Take back what a pass wanted and did not apply: nothing is held by a pass that ended or waits (D13).

    The ledger needs no target.

    Raises:
        Fenced, DeployFailed: as `Ledger.write`.
    """
    if ledger.uid and withdraw(ledger.record) != ledger.record:
        await ledger.write(withdraw)


async def _known_losses(ledger: Ledger, wanted: Sequence[Entry], ownership: Ownership) -> tuple[Loss, ...]:
    """Return what is lost for certain, before anything is planned.

    A key that is planned and taken back wakes everybody who claims it; two Releases that wait for a third
    would wake each other for ever.
    """
    await ownership.synced()
    if not rule(ledger.record, wanted, _of(ledger, ownership.index)).losses:
        return ()
    await ledger.begin()
    index = await _as_of(ledger, ownership)
    return rule(ledger.record, wanted, _of(ledger, index)).losses


async def _plan(ledger: Ledger, wanted: Sequence[Entry]) -> None:
    await ledger.write(lambda record: plan(record, wanted))
    if any(not entry.recorded_at for entry in ledger.record.planned):
        await ledger.write(partial(stamp, resource_version=ledger.resource_version))


async def _decide(ledger: Ledger, wanted: Sequence[Entry], ownership: Ownership) -> tuple[Loss, ...]:
    """Return what is lost, after every Release that plans the same keys has said when it did."""
    index = await _as_of(ledger, ownership)
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _STAMP_WITHIN
    ruling = rule(ledger.record, wanted, _of(ledger, index))
    while ruling.undecided and not ruling.losses and loop.time() < deadline:
        await index.change(timeout=deadline - loop.time())
        ruling = rule(ledger.record, wanted, _of(ledger, index))
    # Undecided for so long: that worker died between its two writes. To wait for it is always safe.
    return ruling.losses or ruling.undecided


async def _concede(
    ledger: Ledger,
    wanted: Sequence[Entry],
    lost: Sequence[Loss],
    ownership: Ownership,
    *,
    proved: Collection[ObjectKey],
) -> None:
    keys = [loss.key for loss in lost]

    def conceded(record: Record) -> Record:
        return concede(record, wanted, keys, proved=proved)

    await ledger.write(conceded)
    # Only now: a claim of the other side that was written before this one is seen by this look, and one
    # that was written after it is answered by the other side's own look. One of the two gives way.
    index = await _as_of(ledger, ownership)
    await ledger.write(lambda record: give_up(record, wanted, _of(ledger, index)))


async def _as_of(ledger: Ledger, ownership: Ownership) -> OwnershipIndex:
    try:
        return await ownership.as_of(ledger.resource_version)
    except NotSeen as error:
        raise DeployFailed(f"who owns the objects cannot be decided: {error}") from error


def _of(ledger: Ledger, index: OwnershipIndex) -> Lookup:
    return index.lookup(ledger.target_uid, release=ledger.name)


def _still(lost: Sequence[Loss], ruling: Ruling) -> tuple[Loss, ...]:
    before = {loss.key for loss in lost}
    return tuple(loss for loss in ruling.losses + ruling.undecided if loss.key in before)


def _message(losses: Sequence[Loss]) -> str:
    by_owner: dict[str, list[str]] = {}
    for loss in losses:
        by_owner.setdefault(loss.owner, []).append(str(loss.key))
    parts = []
    for owner, names in sorted(by_owner.items()):
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        parts.append(f"the Release {owner} has {', '.join(names[:_NAMED])}{more}")
    return f"{'; '.join(parts)}: waits until it lets go (drop the object from one of the two renders)"
