"""The Jobs of hooks on the target cluster: made once, found again, let go when their result is recorded (D27)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final, Literal

from convoy.api.errors import DeployFailed
from convoy.api.names import HOOK, HOOK_FINALIZER, HOOK_RUN, RELEASE_UID
from convoy.api.objects import Manifest
from convoy.hooks.definition import BEFORE_CREATION
from convoy.hooks.job import end_of, is_of, place_of, policy_of
from convoy.kube.client import KubeClient
from convoy.kube.errors import AlreadyExists, ApiError, NamespaceMissing, NotFound, UidMismatch
from convoy.kube.resources import JOBS
from convoy.kube.retry import is_retryable_dry_run, with_retries
from convoy.sync.finalizers import remove_finalizer
from convoy.sync.interruptions import Interrupted
from convoy.sync.rejections import rejection

GONE_SECONDS: Final = 10.0
"""How long a deleted Job is waited for at a time; its Pods may take longer to end."""
_LOOK_SECONDS: Final = 0.2
"""Between two looks whether it is gone."""


class Refused(Exception):
    """The target does not take what a hook needs; the message has its words. Another try would get the same answer."""


class NoNamespace(Refused):
    """The namespace of a Job does not exist (yet)."""


async def create_job(
    client: KubeClient,
    job: Manifest,
    *,
    dry_run: bool = False,
    should_stop: Callable[[], bool] = lambda: False,
) -> Manifest:
    """Create a Job, and return it as it is on the cluster: it may be there already, from an attempt that died.

    `should_stop` is asked right before each request: once the run has its result its Job may go, and then nothing but
    the lease keeps an attempt that was frozen from making it a second time.

    Raises:
        Refused: the server refuses it, or has another Job of this name.
        DeployFailed: the server did not answer.
        Interrupted: it was to stop.
    """
    key = JOBS.key(job["metadata"]["namespace"], job["metadata"]["name"])

    async def attempt() -> Manifest:
        if should_stop():
            raise Interrupted(f"interrupted before the create of {key}")
        return await client.create(job, JOBS, dry_run=dry_run, strict=True)

    try:
        return await with_retries(attempt, retry_on=is_retryable_dry_run)
    except AlreadyExists:
        found = await find_job(client, place_of(job))
        if found is None:
            raise DeployFailed(f"{key} was there and is gone; the next try makes it") from None
        if _marks(found) != _marks(job):
            raise Refused(f"{key}: there is a Job of this name that convoy did not make for it") from None
        return found
    except ApiError as error:
        if error.is_users_fault:
            refused = NoNamespace if isinstance(error, NamespaceMissing) else Refused
            raise refused(str(rejection(key, error))) from error
        raise DeployFailed(f"{key}: {error.message}") from error


async def check_job(client: KubeClient, job: Manifest) -> str:
    """Have the target check a Job, as its dry run checks objects; return its refusal, or nothing.

    A namespace that is missing is no refusal: an earlier hook or the render may make it.

    Raises:
        DeployFailed: the server did not answer.
    """
    try:
        await create_job(client, job, dry_run=True)
    except NoNamespace:
        return ""
    except Refused as error:
        return str(error)
    return ""


async def find_job(client: KubeClient, place: str) -> Manifest | None:
    """Return the Job at `namespace/name`, or None where it is gone; raises DeployFailed."""
    namespace, _, name = place.partition("/")
    try:
        return await with_retries(lambda: client.get(JOBS, namespace, name))
    except NotFound:
        return None
    except ApiError as error:
        raise DeployFailed(f"{JOBS.key(namespace, name)}: {error.message}") from error


async def let_go(client: KubeClient, job: Manifest, *, delete: bool) -> None:
    """Take convoy's finalizer from a Job whose result is recorded, and delete it; raises DeployFailed.

    A Job that still runs is deleted in the foreground: it stays until its Pods have ended, so that whoever waits for
    its end knows that nothing of it runs any more.
    """
    metadata = job["metadata"]
    namespace, name, uid = metadata["namespace"], metadata["name"], metadata["uid"]
    if delete and not metadata.get("deletionTimestamp"):
        propagation: Literal["Background", "Foreground"] = (
            "Background" if end_of(job) is not None else "Foreground"
        )
        try:
            await with_retries(lambda: client.delete(JOBS, namespace, name, uid=uid, propagation=propagation))
        except (NotFound, UidMismatch):
            return
        except ApiError as error:
            raise DeployFailed(f"{JOBS.key(namespace, name)} cannot be deleted: {error.message}") from error
    if HOOK_FINALIZER in (metadata.get("finalizers") or ()):
        await remove_finalizer(client, JOBS, namespace, name, HOOK_FINALIZER, uid=uid)


async def clear(client: KubeClient, place: str, *, uid: str, seconds: float = GONE_SECONDS) -> bool:
    """Make room for the next run of a hook: return whether nothing of the Job at `place` runs any more.

    One that runs still, for a render that nobody wants any more, is ended, whatever its policy: two migrations at once
    are worse than one that stops. One that has ended is deleted unless its policy keeps it.

    Raises:
        DeployFailed: the target did not answer.
    """
    job = await find_job(client, place)
    if job is None or not is_of(job, uid):
        return True
    ended = end_of(job)
    if ended is not None and not job["metadata"].get("deletionTimestamp"):
        await let_go(client, job, delete=policy_of(job) == BEFORE_CREATION)
        return True
    await let_go(client, job, delete=True)
    return await _gone(client, place, job["metadata"]["uid"], seconds)


async def _gone(client: KubeClient, place: str, uid: str, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while True:
        job = await find_job(client, place)
        if job is None or job["metadata"]["uid"] != uid:
            return True
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(_LOOK_SECONDS)


def _marks(job: Manifest) -> tuple[str | None, ...]:
    """What tells a run of a hook from everything else."""
    labels, annotations = (job["metadata"].get(part) or {} for part in ("labels", "annotations"))
    return labels.get(RELEASE_UID), annotations.get(HOOK), annotations.get(HOOK_RUN)
