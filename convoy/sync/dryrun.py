"""Step 1: every object of the render as a server-side apply dry run, so that a bad render changes nothing.

All objects go in one pass, concurrently, and every rejected one is reported with the server's own causes
(D7). What the cluster cannot judge yet is skipped: a kind whose CRD is in the same render is checked
against that CRD locally, an object in a namespace of the same render is left to the apply (D8), a kind that
nobody knows as well (D9).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import msgspec

from convoy.api.errors import DeployFailed, Unappliable
from convoy.api.objects import ObjectKey
from convoy.api.release import IgnoreDifferences
from convoy.api.rendered import Render, RenderedObject
from convoy.kube.errors import ApiError, KindUnknown, NamespaceMissing, Unreachable
from convoy.kube.retry import is_retryable_dry_run, with_retries
from convoy.kube.targets import Target
from convoy.sync.crd_check import RenderedCrds
from convoy.sync.interruptions import Interrupted
from convoy.sync.live import Live
from convoy.sync.pool import run_pool
from convoy.sync.rejections import Rejection, join, rejection
from convoy.sync.send import body_for, resource_of, send_apply

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


@dataclass(frozen=True, slots=True)
class DryRun:
    """What the target cluster said about a render. Nothing was changed."""

    rejected: tuple[Rejection, ...] = ()
    """In render order."""
    seen: Mapping[ObjectKey, Seen] = field(default_factory=dict)
    """The objects that exist already (D11, D13)."""
    skipped: tuple[Skipped, ...] = ()

    def raise_for_rejections(self) -> None:
        """Raise Unappliable naming every rejected object, if there is one."""
        if self.rejected:
            count = len(self.rejected)
            what = "an object" if count == 1 else f"{count} objects"
            raise Unappliable(f"the cluster rejected {what} of the render:\n{join(self.rejected)}")

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
    ignore: Sequence[IgnoreDifferences] = (),
    should_stop: Callable[[], bool] = lambda: False,
) -> DryRun:
    """Check a whole render against the target.

    Raises:
        DeployFailed: the server could not answer for some object, and rejected none.
        Interrupted: `should_stop` said so.
    """
    crds = RenderedCrds(render.objects)
    namespaces = {
        item.key.name for item in render.objects if (item.key.group, item.key.kind) == ("", "Namespace")
    }
    faults: list[Rejection] = []

    async def check(item: RenderedObject) -> Seen | Rejection | Skipped | None:
        if should_stop():
            raise Interrupted("the dry run was interrupted")
        try:
            return await _check(target, item, crds=crds, namespaces=namespaces, ignore=ignore)
        except ApiError as error:
            faults.append(rejection(item.key, error))
            if len(faults) >= _FAULTS or isinstance(error, Unreachable):
                raise _Faulty from error
            return None

    outcomes: dict[ObjectKey, Any] = {}

    async def note(item: RenderedObject) -> None:
        outcomes[item.key] = await check(item)

    with suppress(_Faulty):  # what was found so far is told below
        await run_pool(render.objects, note, at_once=target.client.limits.max_in_flight)
    found = [(item.key, outcomes.get(item.key)) for item in render.objects]
    result = DryRun(
        rejected=tuple(outcome for _, outcome in found if isinstance(outcome, Rejection)),
        seen={key: outcome for key, outcome in found if isinstance(outcome, Seen)},
        skipped=tuple(outcome for _, outcome in found if isinstance(outcome, Skipped)),
    )
    if faults and not result.rejected:
        raise DeployFailed(f"the dry run could not be completed:\n{join(faults)}")
    return result


async def _check(
    target: Target,
    item: RenderedObject,
    *,
    crds: RenderedCrds,
    namespaces: set[str],
    ignore: Sequence[IgnoreDifferences],
) -> Seen | Rejection | Skipped | None:
    key = item.key
    try:
        resource = await resource_of(target, item)
        body = await body_for(target.client, resource, item, ignore=ignore)
        live: Live = await with_retries(
            lambda: send_apply(target.client, body, resource, key, dry_run=True),
            retry_on=is_retryable_dry_run,
        )
    except KindUnknown as error:
        if not crds.has(item):
            return Skipped(key, error.message)
        wrong = crds.faults(item)
        if wrong:
            return Rejection(key, "; ".join(wrong))
        return Skipped(key, "checked against the CustomResourceDefinition of the same render")
    except NamespaceMissing as error:
        if key.namespace in namespaces:
            return Skipped(key, f"namespace {key.namespace} is in the same render")
        return rejection(key, error)
    except ApiError as error:
        if error.is_users_fault:
            return rejection(key, error)
        raise
    except ValueError as error:
        return Rejection(key, f"it cannot be written as JSON: {error}")
    # The dry run of a create answers with an invented UID and no resourceVersion.
    return Seen(live.uid, live.resource_version) if live.resource_version else None
