"""What an earlier attempt may have applied without living to write it down, looked up on the target (D13).

A worker that died in a wave, or a request without an answer, leaves planned keys that were sent. While nobody knows
whether they are applied they are held, also against the Release whose object it rightfully is. So the next pass asks
the cluster first: what convoy applied is recorded as applied, and all else is a plan like any other.
"""

from __future__ import annotations

from convoy.api.errors import DeployFailed
from convoy.kube.errors import ApiError, Forbidden
from convoy.kube.targets import Target
from convoy.sync.inventory import Entry, Record, not_sent, union
from convoy.sync.ledger import Ledger
from convoy.sync.live import Live, find_live
from convoy.sync.pool import run_pool
from convoy.sync.rejections import rejection


async def settle_doubts(target: Target, ledger: Ledger) -> None:
    """Decide which planned keys that were sent are applied. Costs nothing where there are none.

    Raises:
        DeployFailed: one of them cannot be read, so that nobody knows.
        Fenced, Unsupported: as `Ledger.write`.
    """
    doubtful = [entry for entry in ledger.record.planned if entry.sent]
    if not doubtful:
        return
    await ledger.begin()
    found = await run_pool(
        doubtful, lambda entry: _look(target, entry), at_once=target.client.limits.max_in_flight
    )
    applied = [
        Entry(entry.key, entry.wave, live.uid)
        for entry, live in zip(doubtful, found, strict=True)
        if live is not None and live.applied_by_convoy
    ]

    def settled(record: Record) -> Record:
        return not_sent(union(record, applied), [entry.key for entry in doubtful])

    await ledger.write(settled)


async def _look(target: Target, entry: Entry) -> Live | None:
    try:
        return await find_live(target, entry.key)
    except Forbidden:
        return None  # who may not even read an object is not the one to hold it
    except ApiError as error:
        raise DeployFailed(f"whether it is applied cannot be told: {rejection(entry.key, error)}") from error
