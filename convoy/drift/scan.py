"""The compare of a whole render: side by side, as many at a time as the cluster's limit allows (D30).

The compare stops at the first error, first in render order (D31), whichever answer came first: the same
broken render must give the same condition, pass after pass.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from convoy.api.release import IgnoreDifferences
from convoy.api.rendered import RenderedObject
from convoy.drift.compare import compare_object
from convoy.drift.results import Failure, ObjectDrift, ScanResult
from convoy.kube.client import KubeClient
from convoy.kube.discovery import Discovery
from convoy.kube.errors import ApiError
from convoy.sync.body import ignored_paths


async def scan(
    objects: Sequence[RenderedObject],
    *,
    client: KubeClient,
    discovery: Discovery,
    key: bytes,
    ignores: Sequence[IgnoreDifferences] = (),
) -> ScanResult:
    """Compare all objects of a render with the cluster; an error of the cluster is part of the result.

    `key` is the installation's, for the fingerprints of Secret values; `ignores` is `spec.ignoreDifferences`.
    """
    slots: list[ObjectDrift | None] = [None] * len(objects)
    failures: dict[int, Failure] = {}
    pending = iter(enumerate(objects))

    async def work() -> None:
        for index, rendered in pending:
            if failures:  # All that comes now stands behind the failed object.
                return
            try:
                slots[index] = await compare_object(
                    rendered,
                    client=client,
                    discovery=discovery,
                    key=key,
                    ignored=ignored_paths(rendered.key, ignores),
                )
            except ApiError as error:
                failures[index] = Failure(rendered.key, error.message)

    async with asyncio.TaskGroup() as group:
        for _ in range(min(client.limits.max_in_flight, len(objects))):
            group.create_task(work())
    first = min(failures, default=len(objects))
    found = tuple(slot for slot in slots[:first] if slot is not None)
    return ScanResult(total=len(objects), objects=found, failure=failures.get(first))
