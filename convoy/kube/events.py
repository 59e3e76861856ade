"""Events about a Release, for `kubectl describe` and alerting: `events.k8s.io/v1`.

The name of an event is made of what it says, so that saying it again finds the first one and counts it as a
series, also from another worker and after a restart. Nothing here fails a sync: an event that cannot be
written is logged.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Literal

import structlog

from convoy.api.names import GROUP
from convoy.api.objects import Manifest, key_of
from convoy.kube.client import KubeClient
from convoy.kube.errors import AlreadyExists, ApiError
from convoy.kube.resources import EVENTS
from convoy.kube.retry import with_retries

_log = structlog.get_logger(__name__)

CONTROLLER = f"{GROUP}/convoy"
# An event is not worth more of a sync's time.
_BUDGET_SECONDS = 2.0
# Limits of the API server.
_NOTE = 1024
_REASON = 128
_NAME = 253


class Events:
    """Writes events as one process of convoy."""

    def __init__(
        self, home: KubeClient, *, instance: str, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        """`instance` names the process, such as its pod."""
        self._home = home
        self._instance = instance[:_REASON]
        self._clock = clock

    async def emit(
        self,
        regarding: Manifest,
        *,
        reason: str,
        note: str,
        type: Literal["Normal", "Warning"] = "Normal",
        action: str = "Sync",
    ) -> None:
        """Write an event about an object, or count it if the same was said before. Never raises `ApiError`.

        `reason` is one word in CamelCase, `note` is for people and holds no Secret value; both are cut to
        what the API server takes.
        """
        metadata = regarding["metadata"]
        namespace = metadata.get("namespace") or "default"
        note = _cut(note)
        said = "\0".join((metadata["uid"], type, reason, action, note))
        digest = hashlib.sha256(said.encode()).hexdigest()[:16]
        name = f"{metadata['name'][: _NAME - 17].rstrip('.-')}.{digest}"
        now = self._clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        event: Manifest = {
            "apiVersion": EVENTS.api_version,
            "kind": EVENTS.kind,
            "metadata": {"name": name, "namespace": namespace},
            "eventTime": now,
            "reportingController": CONTROLLER,
            "reportingInstance": self._instance,
            "action": action[:_REASON],
            "reason": reason[:_REASON],
            "type": type,
            "note": note,
            "regarding": {
                "apiVersion": regarding["apiVersion"],
                "kind": regarding["kind"],
                "namespace": metadata.get("namespace") or "",
                "name": metadata["name"],
                "uid": metadata["uid"],
                "resourceVersion": metadata.get("resourceVersion") or "",
            },
        }
        try:
            await with_retries(lambda: self._write(event, now), budget=_BUDGET_SECONDS)
        except ApiError as error:
            subject = str(key_of(regarding))
            _log.warning("event-not-written", object=subject, reason=reason, error=error.message)

    async def _write(self, event: Manifest, now: str) -> None:
        try:
            await self._home.create(event, EVENTS)
        except AlreadyExists:
            name, namespace = event["metadata"]["name"], event["metadata"]["namespace"]
            live = await self._home.get(EVENTS, namespace, name)
            count = (live.get("series") or {}).get("count", 1) + 1
            await self._home.patch(
                EVENTS,
                namespace,
                name,
                {
                    "metadata": {"resourceVersion": live["metadata"]["resourceVersion"]},
                    "series": {"count": count, "lastObservedTime": now},
                },
            )


def _cut(note: str) -> str:
    encoded = note.encode()
    if len(encoded) <= _NOTE:
        return note
    return encoded[: _NOTE - len("…".encode())].decode(errors="ignore") + "…"
