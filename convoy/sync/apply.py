"""Step 4: one sync wave, strictly in render order, each object answered before the next (D12).

A wave can end in the middle at any moment: an object fails, the worker stops, the process dies. So every
key is planned before the first request, what was applied is written down on the way and at every end, and
an update carries the UID that the dry run saw, so that a late writer cannot make a deleted object anew
(D11, D13).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic

from convoy.api.errors import DeployFailed
from convoy.api.objects import ObjectKey, counted
from convoy.api.release import IgnoreDifferences
from convoy.api.rendered import RenderedObject
from convoy.kube.errors import ApiError, Invalid, KindUnknown, UidMismatch
from convoy.kube.resources import Resource
from convoy.kube.retry import is_retryable, with_retries
from convoy.kube.targets import Target
from convoy.sync.crd_check import Kind
from convoy.sync.dryrun import Seen
from convoy.sync.established import CrdGate
from convoy.sync.interruptions import Interrupted
from convoy.sync.inventory import Entry, not_sent, sending, union
from convoy.sync.ledger import Ledger
from convoy.sync.live import Live, find_live
from convoy.sync.pool import run_pool
from convoy.sync.rejections import rejection
from convoy.sync.send import ask_about, body_for, send_apply

CHECKPOINT = 200
"""Objects between two writes of the inventory of a wave, at least."""
_CHECKPOINTS = 5
"""Writes of the inventory a wave, at most: each one of a large inventory is a megabyte."""
CHECKPOINT_SECONDS = 5.0
"""Between two writes of the inventory, at least: what is applied in less is soon applied again."""

MARGIN_SECONDS = 60.0
"""By which the clocks of several workers and API servers may differ where it is told what changed."""


@dataclass(frozen=True, slots=True)
class Applied:
    """An object as the cluster answered it."""

    key: ObjectKey
    uid: str
    generation: int
    """Health may be judged on a status of this generation or a later one (D26); 0 for kinds that keep
    none."""
    changed: bool
    """False where it has the version that the dry run saw, or where since then others alone have written."""


OnApplied = Callable[[int, Applied], None]
"""Told of each applied object, with its index in the wave."""


def _ignore_progress(index: int, applied: Applied) -> None:
    """Stand in where nobody asks for progress."""


def entries_of(objects: Sequence[RenderedObject]) -> tuple[Entry, ...]:
    """Return the inventory entries of rendered objects, in their order, without UIDs."""
    return tuple(Entry(item.key, item.wave) for item in objects)


async def apply_wave(
    target: Target,
    ledger: Ledger,
    objects: Sequence[RenderedObject],
    *,
    seen: Mapping[ObjectKey, Seen] | None,
    began: datetime | None = None,
    start_at: int = 0,
    ignore: Sequence[IgnoreDifferences] = (),
    defined: Collection[Kind] = (),
    on_applied: OnApplied = _ignore_progress,
    should_stop: Callable[[], bool] = lambda: False,
) -> tuple[Applied, ...]:
    """Apply one wave, and write the union into the inventory, whatever ends it.

    `seen` is what the dry run saw of existing objects; None (a forced sync, or the result was lost) reads
    them here. `began` is when the pass began: what convoy has not changed since then is not changed, though a
    controller writes its status at the same time; None: nobody knows. `start_at` is the number of objects that
    an earlier attempt reported as applied. Those that the inventory does not record with the UID that they have
    now are sent again, since it is lost. `defined` are the kinds whose CRD is in the same render: for a moment a
    server may not know them, or know their old schema. `should_stop` is asked before each request.

    Raises:
        DeployFailed: naming the object that could not be applied; those before it are recorded.
        Interrupted: `should_stop` said so; what was applied is recorded.
        Fenced: another attempt has taken over.
    """
    recorded = {entry.key for entry in ledger.record.objects if entry.uid}
    start = next((i for i, item in enumerate(objects[:start_at]) if item.key not in recorded), start_at)
    left = objects[start:]
    if seen is None:
        seen = await _look(target, left)
    keys = {item.key for item in left}
    uids = {item.key: seen[item.key].uid for item in left if item.key in seen}
    unsent = {entry.key for entry in ledger.record.planned if entry.key in keys and not entry.sent}
    await ledger.write(lambda record: sending(record, keys, uids))

    wave = _Wave(
        target,
        ledger,
        seen=seen,
        began=began,
        ignore=ignore,
        defined=defined,
        should_stop=should_stop,
        total=len(left),
        unsent=unsent,
    )
    try:
        for index, item in enumerate(left, start):
            on_applied(index, await wave.apply(item))
            await wave.checkpoint()
        await wave.gate.wait_for_all()
    except ApiError as error:
        raise DeployFailed(
            f"after {counted(len(wave.applied), 'object')} of the wave: {error.message}"
        ) from error
    finally:
        await wave.close()
    return tuple(wave.applied)


class _Wave:
    """The state of one wave while it runs."""

    def __init__(
        self,
        target: Target,
        ledger: Ledger,
        *,
        seen: Mapping[ObjectKey, Seen],
        began: datetime | None,
        ignore: Sequence[IgnoreDifferences],
        defined: Collection[Kind],
        should_stop: Callable[[], bool],
        total: int,
        unsent: set[ObjectKey],
    ) -> None:
        self._target = target
        self._ledger = ledger
        self._seen = seen
        self._began = began
        self._ignore = ignore
        self._defined = defined
        self._should_stop = should_stop
        self._every = max(CHECKPOINT, total // _CHECKPOINTS)
        self._unwritten: list[Entry] = []
        self._written_at = monotonic()
        self._unsent = unsent
        """Planned keys that are surely not applied: no attempt has sent them, or the server refused."""
        self.gate = CrdGate(target, should_stop=should_stop)
        self.applied: list[Applied] = []

    async def apply(self, item: RenderedObject) -> Applied:
        await self.gate.wait_for(item)
        if self._should_stop():
            raise Interrupted(f"interrupted before {item.key}")
        before = self._seen.get(item.key)
        try:
            live = await self._send(item, uid=before.uid if before is not None else "")
        except UidMismatch as error:
            raise DeployFailed(
                f"{item.key} was deleted or made anew since it was looked at; the next try looks again"
            ) from error
        except KindUnknown as error:
            raise DeployFailed(
                f"{item.key}: {error.message}, and no CustomResourceDefinition before it in the render defines it"
            ) from error
        except ApiError as error:
            raise DeployFailed(str(rejection(item.key, error))) from error
        except ValueError as error:
            raise DeployFailed(f"{item.key} cannot be written as JSON: {error}") from error
        applied = Applied(item.key, live.uid, live.generation, self._is_changed(before, live))
        self.applied.append(applied)
        self._unwritten.append(Entry(item.key, item.wave, live.uid))
        self.gate.applied(item)
        return applied

    def _is_changed(self, before: Seen | None, live: Live) -> bool:
        if before is not None and before.resource_version == live.resource_version:
            return False
        if before is None or self._began is None:
            return True
        # A time in managedFields moves only where an Apply changes something. An earlier attempt may have done that.
        return live.unchanged_for <= (datetime.now(UTC) - self._began).total_seconds() + MARGIN_SECONDS

    async def _send(self, item: RenderedObject, *, uid: str) -> Live:
        def again(error: BaseException) -> bool:
            is_young = (item.key.group, item.key.kind) in self._defined
            return is_retryable(error) or (is_young and isinstance(error, KindUnknown | Invalid))

        async def send(resource: Resource) -> Live:
            body = await body_for(self._target.client, resource, item, ignore=self._ignore, uid=uid)
            was_unsent = item.key in self._unsent
            self._unsent.discard(item.key)
            try:
                return await send_apply(self._target.client, body, resource, item.key, dry_run=False)
            except ApiError as error:
                if was_unsent and not error.may_be_done:
                    self._unsent.add(item.key)
                raise

        return await with_retries(lambda: ask_about(self._target, item, send), retry_on=again)

    async def checkpoint(self) -> None:
        """Write down what was applied, now and then: a crash makes no more of it be sent again."""
        if len(self._unwritten) < self._every or monotonic() - self._written_at < CHECKPOINT_SECONDS:
            return
        done, self._unwritten = self._unwritten, []
        await self._ledger.write(lambda record: union(record, done))
        self._written_at = monotonic()

    async def close(self) -> None:
        """Write down what was applied, and what surely was not."""
        await self._ledger.write(lambda record: not_sent(union(record, self._unwritten), self._unsent))


async def _look(target: Target, objects: Sequence[RenderedObject]) -> dict[ObjectKey, Seen]:
    """Read which of the objects exist, as the dry run would have."""

    async def look(item: RenderedObject) -> Live | None:
        try:
            return await find_live(target, item.key)
        except ApiError as error:
            raise DeployFailed(str(rejection(item.key, error))) from error

    found = await run_pool(objects, look, at_once=target.client.limits.max_in_flight)
    return {
        item.key: Seen(live.uid, live.resource_version)
        for item, live in zip(objects, found, strict=True)
        if live is not None
    }
