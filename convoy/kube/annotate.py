"""The one function that writes a /sync request: an annotation on the Release (D23)."""

from __future__ import annotations

from datetime import datetime

from convoy.api.names import SYNC_FORCE_REQUESTED_AT, SYNC_REQUESTED_AT
from convoy.api.times import next_request_time, parse_time
from convoy.kube.client import KubeClient
from convoy.kube.errors import UidMismatch
from convoy.kube.resources import RELEASES
from convoy.kube.retry import with_retries

BUDGET_SECONDS = 15.0
"""How long a request that keeps losing against other writers goes on."""


async def request_sync(
    home: KubeClient,
    namespace: str,
    name: str,
    *,
    now: datetime,
    force: bool = False,
    uid: str | None = None,
) -> str:
    """Request a sync and return the annotation's value, which is the request's id.

    The value is later than that of every request before, by a second at least, also if this clock is behind
    or two requests come in one second (D22). A forced request sets both annotations
    (`reference/sync-policy`, Forced sync).

    Raises:
        NotFound: the Release is gone.
        UidMismatch: the Release is not the one with this `uid`.
        ApiError: the server refused.
    """

    async def attempt() -> str:
        release = await home.get(RELEASES, namespace, name)
        metadata = release["metadata"]
        if uid is not None and metadata["uid"] != uid:
            raise UidMismatch(f"{RELEASES.key(namespace, name)} was deleted and made again", status=409)
        annotations = metadata.get("annotations") or {}
        status = release.get("status") or {}
        requested = next_request_time(
            annotations.get(SYNC_REQUESTED_AT), now, handled=status.get("lastHandledSyncAt")
        )
        wanted = {SYNC_REQUESTED_AT: requested}
        if force:
            requested = next_request_time(
                annotations.get(SYNC_FORCE_REQUESTED_AT),
                parse_time(requested),
                handled=status.get("lastHandledForceSyncAt"),
            )
            wanted = {SYNC_REQUESTED_AT: requested, SYNC_FORCE_REQUESTED_AT: requested}
        guard = {"uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"]}
        await home.patch(RELEASES, namespace, name, {"metadata": {**guard, "annotations": wanted}})
        return requested

    # A conflict counts as retryable, and each try reads again: two requests never get one value.
    return await with_retries(attempt, budget=BUDGET_SECONDS)
