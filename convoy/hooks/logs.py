"""The last lines that a failed hook wrote, without what shows a Secret."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from convoy.api.objects import Manifest
from convoy.hooks.masking import without_secrets
from convoy.kube.classify import error_of
from convoy.kube.client import KubeClient
from convoy.kube.errors import ApiError, NotFound
from convoy.kube.resources import SECRETS, Resource

LINES: Final = 20
_CHARACTERS: Final = 300
"""Of one line."""
_BYTES: Final = 64 * 1024
_SECONDS: Final = 10.0

PODS: Final = Resource("", "v1", "Pod", "pods", True)


async def log_of(client: KubeClient, job: Manifest) -> str:
    """Return the last lines of a failed Job's Pod under a heading, or why there are none. Never raises `ApiError`.

    The target's own identity reads Pods, their logs and the Secrets that the Pods use. Where it may not read one of
    these Secrets, its values cannot be told from the rest, and the log is left out.
    """
    metadata = job["metadata"]
    try:
        pods = await client.list(
            PODS,
            metadata["namespace"],
            label_selector=f"batch.kubernetes.io/controller-uid={metadata['uid']}",
        )
        pod = _failed(pods)
        if pod is None:
            return "it has no Pod whose log could be read"
        lines = await _lines(client, pod)
    except ApiError as error:
        return f"its log cannot be read: {error.message}"
    try:
        values = await _secret_values(client, pod)
    except _Unknown as unknown:
        return f"its log is left out, since {unknown}"
    if not lines:
        return "its log is empty"
    shown = await asyncio.to_thread(without_secrets, lines, values)
    cut = (line if len(line) <= _CHARACTERS else f"{line[:_CHARACTERS]}…" for line in shown)
    return "\n".join([f"the last lines of its Pod {pod['metadata']['name']}:", *cut])


def _failed(pods: Iterable[Manifest]) -> Manifest | None:
    """Return the Pod that failed last."""
    by_age = sorted(pods, key=lambda pod: pod["metadata"].get("creationTimestamp") or "", reverse=True)
    failed = [pod for pod in by_age if (pod.get("status") or {}).get("phase") == "Failed"]
    return next(iter(failed or by_age), None)


async def _lines(client: KubeClient, pod: Manifest) -> list[str]:
    metadata = pod["metadata"]
    params = {"tailLines": str(LINES), "limitBytes": str(_BYTES)}
    container = _container(pod)
    if container:
        params["container"] = container
    path = PODS.path(metadata["namespace"], metadata["name"], "log")
    answer = await client.request("GET", path, params=params, accept="*/*", timeout=_SECONDS)
    if answer.status >= 300:
        raise error_of(answer.status, answer.headers, answer.body, resource=PODS, name=metadata["name"])
    return answer.body.decode(errors="replace").splitlines()[-LINES:]


def _container(pod: Manifest) -> str:
    """Return the container that ended with an error; of several the first one, init containers before others."""
    status = pod.get("status") or {}
    statuses = [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
    for each in statuses:
        ended = [(each.get(state) or {}).get("terminated") for state in ("state", "lastState")]
        if any(one is not None and one.get("exitCode") for one in ended):
            return str(each["name"])
    containers = (pod.get("spec") or {}).get("containers") or [{}]
    return str(containers[0].get("name", ""))


class _Unknown(Exception):
    """What a Pod may know and convoy cannot look up."""


async def _secret_values(client: KubeClient, pod: Manifest) -> list[bytes]:
    """Read every Secret that a Pod's containers get.

    Raises:
        _Unknown: one cannot be read, or may have had other values when the Pod began.
    """
    values: list[bytes] = []
    for name, optional in sorted(set(_secrets(pod.get("spec") or {}))):
        try:
            secret = await client.get(SECRETS, pod["metadata"]["namespace"], name)
        except NotFound:
            if optional:
                continue
            raise _Unknown(f"the Secret {name}, which it uses, is gone") from None
        except ApiError as error:
            raise _Unknown(f"the Secret {name}, which it uses, cannot be read: {error.message}") from error
        if _written_at(secret) > pod["metadata"]["creationTimestamp"]:
            raise _Unknown(f"the Secret {name}, which it uses, was changed meanwhile")
        values += map(_decoded, (secret.get("data") or {}).values())
    return values


def _written_at(secret: Manifest) -> str:
    metadata = secret["metadata"]
    times = [each.get("time") or "" for each in metadata.get("managedFields") or ()]
    return max([metadata.get("creationTimestamp") or "", *times])


def _decoded(value: str) -> bytes:
    try:
        return base64.b64decode(value)
    except binascii.Error:
        return value.encode()


def _secrets(spec: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """Yield the name of each Secret, and whether it may be missing."""
    for kind in ("initContainers", "containers", "ephemeralContainers"):
        for container in spec.get(kind) or ():
            for env in container.get("env") or ():
                yield from _named((env.get("valueFrom") or {}).get("secretKeyRef"), "name")
            for source in container.get("envFrom") or ():
                yield from _named(source.get("secretRef"), "name")
    for volume in spec.get("volumes") or ():
        yield from _named(volume.get("secret"), "secretName")
        for source in (volume.get("projected") or {}).get("sources") or ():
            yield from _named(source.get("secret"), "name")


def _named(reference: Mapping[str, Any] | None, field: str) -> Iterator[tuple[str, bool]]:
    if reference and reference.get(field):
        yield reference[field], bool(reference.get("optional"))
