"""Step 1: every object of the render as a server-side apply dry run, so that a bad render changes nothing.

All objects go in one pass, concurrently, and every rejected one is reported with the server's own causes
(D7). What the cluster cannot judge yet is skipped: a kind whose CRD is in the same render is checked
against that CRD locally, an object in a namespace of the same render is left to the apply (D8), a kind that
nobody knows as well (D9). Where the render changes a CRD that is there, the server would judge by the old schema: its
verdict on the schema counts for nothing, and that of the new one is taken in its place (D8).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec

from convoy.api.errors import DeployFailed, Unappliable
from convoy.api.objects import ObjectKey
from convoy.api.release import IgnoreDifferences
from convoy.api.rendered import Render, RenderedObject
from convoy.kube.errors import ApiError, Invalid, KindUnknown, NamespaceMissing, Unreachable
from convoy.kube.resources import Resource
from convoy.kube.retry import is_retryable_dry_run, with_retries
from convoy.kube.targets import Target
from convoy.sync.crd_check import Kind, RenderedCrds
from convoy.sync.interruptions import Interrupted
from convoy.sync.live import Live, find_live
from convoy.sync.pool import run_pool
from convoy.sync.rejections import Rejection, join, rejection
from convoy.sync.send import ask_about, body_for, send_apply

T = TypeVar("T")

_FAULTS = 5
"""Objects that the server could not answer for, until the pass is given up."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A live object as the dry run met it."""

    uid: str
    resource_version: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """An object that the dry run could not judge, and why."""

    key: ObjectKey
    reason: str
    live: Live | None = None
    """The object as it is, if it is there all the same."""


@dataclass(frozen=True, slots=True)
class DryRun:
    """What the target cluster said about a render. Nothing was changed."""

    rejected: tuple[Rejection, ...] = ()
    """In render order."""
    seen: Mapping[ObjectKey, Seen] = field(default_factory=dict)
    """The objects that exist already (D11, D13)."""
    skipped: tuple[Skipped, ...] = ()
    accepted: frozenset[ObjectKey] = frozenset()
    """The objects that this identity may write, by what the server said."""
    unchecked: int = 0
    """Objects that the server gave no answer for."""

    def raise_for_rejections(self) -> None:
        """Raise Unappliable naming every rejected object, if there is one."""
        if self.rejected:
            count = len(self.rejected)
            what = "an object" if count == 1 else f"{count} objects"
            more = f" ({self.unchecked} more not checked: it did not answer)" if self.unchecked else ""
            raise Unappliable(f"the cluster rejected {what} of the render{more}:\n{join(self.rejected)}")

    def encode_seen(self) -> bytes:
        """Return `seen` as bytes for the store: the apply may run on another worker."""
        return msgspec.json.encode(
            [[k.group, k.kind, k.namespace, k.name, s.uid, s.resource_version] for k, s in self.seen.items()]
        )

    @staticmethod
    def decode_seen(data: bytes) -> dict[ObjectKey, Seen]:
        """Read what `encode_seen` wrote.

        Raises:
            ValueError: the bytes are something else.
        """
        try:
            rows = msgspec.json.decode(data, type=list[tuple[str, str, str, str, str, str]])
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ValueError("these bytes are no result of a dry run") from error
        return {ObjectKey(*row[:4]): Seen(row[4], row[5]) for row in rows}


class _Faulty(Exception):
    """So much is broken that the rest of the pass would only wait."""


async def dry_run(
    target: Target,
    render: Render,
    *,
    only: Collection[ObjectKey] | None = None,
    ignore: Sequence[IgnoreDifferences] = (),
    should_stop: Callable[[], bool] = lambda: False,
) -> DryRun:
    """Check a whole render against the target, or some objects of it.

    Raises:
        DeployFailed: the server could not answer for some object, and rejected none.
        Interrupted: `should_stop` said so.
    """
    objects = [item for item in render.objects if only is None or item.key in only]
    return await _Pass(target, render, ignore=ignore, should_stop=should_stop).run(objects)


class _Pass:
    """One dry run while it goes on."""

    def __init__(
        self,
        target: Target,
        render: Render,
        *,
        ignore: Sequence[IgnoreDifferences],
        should_stop: Callable[[], bool],
    ) -> None:
        self._target = target
        self._ignore = ignore
        self._should_stop = should_stop
        self._crds = RenderedCrds(render.objects)
        self._namespaces = {
            item.key.name for item in render.objects if (item.key.group, item.key.kind) == ("", "Namespace")
        }
        self._changed: set[Kind] = set()
        """Kinds of which the render changes the CRD."""
        self._outcomes: dict[ObjectKey, Live | Rejection | Skipped] = {}
        self._faults: list[Rejection] = []

    async def run(self, objects: Sequence[RenderedObject]) -> DryRun:
        at_once = self._target.client.limits.max_in_flight
        crds = self._crds.of(objects)
        first = {crd.key for crd in crds.values()}
        with suppress(_Faulty):  # what was found so far is told below
            await run_pool(list(crds.items()), self._note_crd, at_once=at_once)
            await run_pool([item for item in objects if item.key not in first], self._note, at_once=at_once)
        found = {item.key: self._outcomes[item.key] for item in objects if item.key in self._outcomes}
        seen: dict[ObjectKey, Seen] = {}
        for key, each in found.items():
            live = each if isinstance(each, Live) else each.live if isinstance(each, Skipped) else None
            # The dry run of a create answers with an invented UID and no resourceVersion.
            if live is not None and live.resource_version:
                seen[key] = Seen(live.uid, live.resource_version)
        result = DryRun(
            rejected=tuple(each for each in found.values() if isinstance(each, Rejection)),
            seen=seen,
            skipped=tuple(each for each in found.values() if isinstance(each, Skipped)),
            accepted=frozenset(key for key, each in found.items() if isinstance(each, Live)),
            unchecked=len(objects) - len(found),
        )
        if self._faults and not result.rejected:
            raise DeployFailed(f"the dry run could not be completed:\n{join(self._faults)}")
        return result

    async def _note_crd(self, defined: tuple[Kind, RenderedObject]) -> None:
        """Check a CRD before the objects of its kind, and find out whether it changes."""
        kind, crd = defined
        await self._note(crd)
        answer = self._outcomes.get(crd.key)
        if not isinstance(answer, Live) or not answer.resource_version:
            return
        before = await self._answered(crd, lambda: find_live(self._target, crd.key))
        if before is not None and before.generation != answer.generation:
            self._changed.add(kind)

    async def _note(self, item: RenderedObject) -> None:
        outcome = await self._answered(item, lambda: self._check(item))
        if outcome is not None:
            self._outcomes[item.key] = outcome

    async def _answered(self, item: RenderedObject, ask: Callable[[], Awaitable[T]]) -> T | None:
        """Return what the server answered about an object, or None where it could not."""
        if self._should_stop():
            raise Interrupted("the dry run was interrupted")
        try:
            return await ask()
        except ApiError as error:
            self._faults.append(rejection(item.key, error))
            if len(self._faults) >= _FAULTS or isinstance(error, Unreachable):
                raise _Faulty from error
            return None

    async def _check(self, item: RenderedObject) -> Live | Rejection | Skipped:
        key = item.key
        changed = (key.group, key.kind) in self._changed
        try:
            live = await self._send(item)
        except KindUnknown as error:
            if not self._crds.has(item):
                return Skipped(key, error.message)
            note = "checked against the CustomResourceDefinition of the same render"
            return self._wrong(item) or Skipped(key, note, await find_live(self._target, key))
        except NamespaceMissing as error:
            if key.namespace in self._namespaces:
                return Skipped(key, f"namespace {key.namespace} is in the same render")
            return rejection(key, error)
        except Invalid as error:
            if not changed:
                return rejection(key, error)
            # Who is told that a field is wrong may write the object: rights are checked before.
            note = "checked against the CustomResourceDefinition of the same render, which changes"
            return self._wrong(item) or await find_live(self._target, key) or Skipped(key, note)
        except ApiError as error:
            if error.is_users_fault:
                return rejection(key, error)
            raise
        except ValueError as error:
            return Rejection(key, f"it cannot be written as JSON: {error}")
        return (self._wrong(item) if changed else None) or live

    async def _send(self, item: RenderedObject) -> Live:
        async def send(resource: Resource) -> Live:
            body = await body_for(self._target.client, resource, item, ignore=self._ignore)
            return await send_apply(self._target.client, body, resource, item.key, dry_run=True)

        return await with_retries(lambda: ask_about(self._target, item, send), retry_on=is_retryable_dry_run)

    def _wrong(self, item: RenderedObject) -> Rejection | None:
        """Return what the CRD of the same render finds wrong with an object."""
        faults = self._crds.faults(item)
        return Rejection(item.key, "; ".join(faults)) if faults else None
