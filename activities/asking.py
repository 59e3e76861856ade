"""Asking for a sync: through the annotation, as a user's /sync does, and by a signal."""

from __future__ import annotations

from datetime import UTC, datetime

from temporalio import activity

from activities.context import this_release
from activities.services import Services
from convoy.kube.annotate import request_sync
from convoy.kube.errors import NotFound, UidMismatch
from convoy.policy.trigger import REQUESTED_BY
from workflows.contract import Activity, AskSync, SyncRequest


class Asking:
    """The activity `ask-sync`."""

    def __init__(self, services: Services) -> None:
        self._services = services

    @activity.defn(name=Activity.ASK_SYNC)
    async def ask_sync(self, asked: AskSync) -> str:
        """Return the request's id, which is the annotation's value; empty where nothing was written (D23)."""
        release = this_release()
        value = ""
        if asked.annotate:
            try:
                value = await request_sync(
                    self._services.home,
                    release.namespace,
                    release.name,
                    now=datetime.now(UTC),
                    force=asked.force,
                    by=REQUESTED_BY.get(asked.trigger),
                    uid=asked.uid or None,
                )
            except (NotFound, UidMismatch):
                return ""  # the Release is gone: there is nobody to ask
        if asked.signal:
            await self._services.signals.sync(
                release, SyncRequest(trigger=asked.trigger, uid=asked.uid, id=value, delay_ms=asked.delay_ms)
            )
        return value
