"""What a chart's hook Jobs need besides themselves: accounts, roles, configuration (D6).

As with Helm they are no objects of the Release: no inventory records them and no drift is looked for. They are applied
again whenever their stage runs, and go only where the chart says so (`hook-succeeded`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from functools import partial

import structlog

from convoy.api.errors import DeployFailed
from convoy.api.objects import ObjectKey, counted
from convoy.api.rendered import RenderedObject
from convoy.hooks.jobs import Refused
from convoy.kube.errors import ApiError, KindUnknown, NotFound, UidMismatch
from convoy.kube.resources import Resource
from convoy.kube.retry import with_retries
from convoy.kube.targets import Target
from convoy.render.chart_hooks import goes_once_it_succeeded
from convoy.sync.body import build
from convoy.sync.live import Live, read_live
from convoy.sync.prune_plan import PROTECTED
from convoy.sync.rejections import rejection
from convoy.sync.send import ask_about, send_apply

log = structlog.get_logger(__name__)


async def apply_objects(target: Target, objects: Sequence[RenderedObject]) -> str:
    """Apply objects in render order; return what to tell of it.

    Raises:
        Refused: the target refuses one.
        DeployFailed: it did not answer.
    """
    for item in objects:
        try:
            await with_retries(partial(_apply, target, item))
        except ValueError as error:
            raise Refused(f"{item.key} cannot be written as JSON: {error}") from error
        except ApiError as error:
            if error.is_users_fault or isinstance(error, KindUnknown):
                raise Refused(str(rejection(item.key, error))) from error
            raise DeployFailed(str(rejection(item.key, error))) from error
    return f"applied {counted(len(objects), 'object')}"


async def delete_objects(
    target: Target, objects: Sequence[RenderedObject], *, keep: Collection[ObjectKey]
) -> None:
    """Delete what the chart wants gone as soon as its stage succeeded, in reverse; `keep` are the Release's own.

    Only what convoy applied and what takes nothing else with it. What cannot be deleted is logged: it costs nothing but
    its place.
    """
    for item in reversed(objects):
        key = item.key
        if key in keep or (key.group, key.kind) in PROTECTED or not goes_once_it_succeeded(item.manifest):
            continue
        try:
            await with_retries(partial(_delete, target, item))
        except ApiError as error:
            log.warning("hook-object-not-deleted", object=str(key), error=error.message)


async def _apply(target: Target, item: RenderedObject) -> None:
    async def send(resource: Resource) -> Live:
        return await send_apply(target.client, build(item.manifest), resource, item.key, dry_run=False)

    await ask_about(target, item, send)


async def _delete(target: Target, item: RenderedObject) -> None:
    async def delete(resource: Resource) -> None:
        live = await read_live(target.client, resource, item.key)
        if live is not None and live.applied_by_convoy:
            await target.client.delete(resource, item.key.namespace, item.key.name, uid=live.uid)

    with suppress(NotFound, UidMismatch):
        await ask_about(target, item, delete)
