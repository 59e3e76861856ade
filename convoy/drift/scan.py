"""The compare of a whole render: side by side, as many at a time as the cluster's limit allows (D30).

The compare stops at the first error, first in render order (D31), whichever answer came first: the same
broken render must give the same condition, pass after pass.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from convoy.api.release import IgnoreDifferences
from convoy.api.rendered import RenderedObject
from convoy.drift.compare import OnLive, compare_object, ignore_live
from convoy.drift.results import Failure, ObjectDrift, ScanResult
from convoy.kube.client import KubeClient
from convoy.kube.discovery import Discovery
from convoy.kube.errors import ApiError
from convoy.sync.ignored import ignored_paths


async def scan(
    objects: Sequence[RenderedObject],
    *,
    client: KubeClient,
    discovery: Discovery,
    key: bytes,
    ignores: Sequence[IgnoreDifferences] = (),
    on_live: OnLive = ignore_live,
) -> ScanResult:
    """Compare all objects of a render with the cluster; an error of the cluster is part of the result.

    `key` is the installation's, for the fingerprints of Secret values; `ignores` is `spec.ignoreDifferences`; `on_live`
    is given each live object that was read.
    """
    slots: list[ObjectDrift | None] = [None] * len(objects)
    failures: dict[int, Failure] = {}
    pending = iter(enumerate(objects))
    workers: list[asyncio.Task[None]] = []
    at = [-1] * min(client.limits.max_in_flight, len(objects))

    async def work(number: int) -> None:
        for index, rendered in pending:
            if failures:
                return
            at[number] = index
            try:
                slots[index] = await compare_object(
                    rendered,
                    client=client,
                    discovery=discovery,
                    key=key,
                    ignored=ignored_paths(rendered.key, ignores),
                    on_live=on_live,
                )
            except ApiError as error:
                failures[index] = Failure(rendered.key, error.message)
                # What stands behind it has no say any more, and a cluster that hangs would be waited for.
                for worker, other in zip(workers, at, strict=True):
                    if other > index:
                        worker.cancel()

    async with asyncio.TaskGroup() as group:
        workers += [group.create_task(work(number)) for number in range(len(at))]
    first = min(failures, default=len(objects))
    found = tuple(slot for slot in slots[:first] if slot is not None)
    return ScanResult(total=len(objects), objects=found, failure=failures.get(first))
