"""What a /sync request writes, and the one function that does: an annotation on the Release (D23)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from convoy.api.names import HEALTH_REQUESTED_AT, SYNC_FORCE_REQUESTED_AT, SYNC_REQUESTED_AT
from convoy.api.objects import Manifest
from convoy.api.times import next_request_time, parse_time, second_or_none
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
    by: str | None = None,
    uid: str | None = None,
    precondition: Mapping[str, Any] | None = None,
    changes: Mapping[str, Any] | None = None,
    dry_run: bool = False,
) -> str:
    """Request a sync and return the annotation's value, which is the request's id.

    `changes` is a JSON merge patch of the rest of the Release, written in the same request: a pin, mutations or
    hooks never stand there without the request that makes them count (`reference/sync-policy`, The /sync request).

    The value is later than that of every request before, by a second at least, also if this clock is behind
    or two requests come in one second (D22). A forced request sets both annotations
    (`reference/sync-policy`, Forced sync). `by`: a loop of convoy's asks, and this annotation says so; where a request
    stands that starts a full pass anyway (`standing_request`), it is the loop's request, too, and nothing is written.

    Raises:
        NotFound: the Release is gone.
        UidMismatch: the Release is not the one with this `uid`, or its metadata have not what `precondition` has.
        ApiError: the server refused.
    """

    async def attempt() -> str:
        release = await home.get(RELEASES, namespace, name)
        metadata = release["metadata"]
        if uid is not None and metadata["uid"] != uid:
            raise UidMismatch(f"{RELEASES.key(namespace, name)} was deleted and made again", status=409)
        if any(metadata.get(name) != value for name, value in (precondition or {}).items()):
            # Of the kind that is not tried again: another try finds the same.
            raise UidMismatch(
                f"{RELEASES.key(namespace, name)} was changed meanwhile: read it again", status=409
            )
        standing = standing_request(release) if by is not None else ""
        if standing:
            return standing
        requested, patch = sync_patch(release, now=now, force=force, by=by)
        await home.patch(RELEASES, namespace, name, {**(changes or {}), **patch}, dry_run=dry_run)
        return requested

    # A conflict counts as retryable, and each try reads again: two requests never get one value.
    return await with_retries(attempt, budget=BUDGET_SECONDS)


def standing_request(release: Manifest) -> str:
    """Return the /sync request that no pass has begun with yet, and that applies all; empty where there is none.

    Health's own is none: its pass only looks whether a wait is over. In the place of a person's, or of a self-heal's,
    it would have that counted as handled without anything applied (D22).
    """
    annotations, status = release["metadata"].get("annotations") or {}, release.get("status") or {}
    requested = annotations.get(SYNC_REQUESTED_AT)
    if requested in (
        (status.get("handled") or {}).get("syncRequestedAt"),
        annotations.get(HEALTH_REQUESTED_AT),
    ):
        return ""
    asked, done = second_or_none(requested), second_or_none(status.get("lastHandledSyncAt"))
    return str(requested) if asked is not None and (done is None or asked > done) else ""


def sync_patch(
    release: Manifest, *, now: datetime, force: bool = False, by: str | None = None
) -> tuple[str, Manifest]:
    """Return the value of the next request of a Release as it was read, and the merge patch that makes it.

    The patch fails with a conflict if the Release was changed in between. Raises nothing: an annotation that is no
    time counts as none.
    """
    metadata = release["metadata"]
    annotations, status = metadata.get("annotations") or {}, release.get("status") or {}
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
    if by is not None:
        wanted[by] = requested
    guard = {"uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"]}
    return requested, {"metadata": {**guard, "annotations": wanted}}
