"""Choosing one of several processes, by a Lease.

The official package's election for asyncio was read and not taken: it writes local time marked as UTC, lets
a connection error end the election, leaves the leader's task running when it is cancelled, and never
releases. This is the same algorithm (client-go's): a candidate takes over when the record has not changed
for the lease's duration by its own clock, so clocks need not agree; a leader that cannot renew stops before
anybody else may start.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import structlog

from convoy.api.objects import Manifest
from convoy.kube.client import KubeClient
from convoy.kube.errors import AlreadyExists, ApiError, Conflict, NotFound
from convoy.kube.resources import LEASES

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseOptions:
    """Times of an election, in seconds. `retry` < `renew_deadline` < `duration`."""

    duration: float = 15.0
    """Others wait so long after the last renewal that they saw."""
    renew_deadline: float = 10.0
    """A leader that could not renew for so long stops."""
    retry: float = 2.0
    """Between two tries to acquire or renew."""


class Lease:
    """One candidate of an election."""

    def __init__(
        self,
        home: KubeClient,
        *,
        namespace: str,
        name: str,
        identity: str,
        options: LeaseOptions | None = None,
    ) -> None:
        """`identity` names the process and is unlike that of any other."""
        self._home = home
        self._namespace = namespace
        self._name = name
        self._identity = identity
        self._options = options or LeaseOptions()
        self._observed: tuple[str, str] | None = None
        self._observed_at = 0.0

    async def run(self, lead: Callable[[], Awaitable[None]]) -> None:
        """Contest for ever; while this process leads, `lead()` runs, and is cancelled when the lease is lost.

        Returns when `lead()` does, and raises what it raises. Gives the lease back at the end, also when
        cancelled, so that another candidate need not wait.
        """
        while True:
            await self._acquire()
            _log.info("lease-acquired", lease=self._name, identity=self._identity)
            leading = asyncio.ensure_future(lead())
            renewing = asyncio.create_task(self._renew())
            try:
                await asyncio.wait({leading, renewing}, return_when=asyncio.FIRST_COMPLETED)
                ended = leading.done()
            finally:
                leading.cancel()
                renewing.cancel()
                await asyncio.gather(leading, renewing, return_exceptions=True)
                await self._release()
            if ended:
                return leading.result()
            _log.warning("lease-lost", lease=self._name, identity=self._identity)

    async def _acquire(self) -> None:
        acquired = await self._try()
        while not acquired:
            await asyncio.sleep(self._options.retry)
            acquired = await self._try()

    async def _renew(self) -> None:
        renewed = time.monotonic()
        while time.monotonic() - renewed < self._options.renew_deadline:
            await asyncio.sleep(self._options.retry)
            if await self._try():
                renewed = time.monotonic()
            elif self._observed is not None and self._observed[0] not in {self._identity, ""}:
                return

    async def _try(self) -> bool:
        try:
            async with asyncio.timeout(self._options.renew_deadline / 2):
                return await self._acquire_or_renew()
        except (Conflict, AlreadyExists):
            return False
        except (ApiError, TimeoutError) as error:
            _log.warning("lease-not-reached", lease=self._name, error=str(error) or "no answer in time")
            return False

    async def _acquire_or_renew(self) -> bool:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        spec: dict[str, Any] = {
            "holderIdentity": self._identity,
            "leaseDurationSeconds": max(1, round(self._options.duration)),
            "renewTime": now,
        }
        try:
            live = await self._home.get(LEASES, self._namespace, self._name)
        except NotFound:
            spec |= {"acquireTime": now, "leaseTransitions": 0}
            await self._home.create(
                {
                    "apiVersion": LEASES.api_version,
                    "kind": LEASES.kind,
                    "metadata": {"name": self._name, "namespace": self._namespace},
                    "spec": spec,
                },
                LEASES,
            )
            self._observe(self._identity, now)
            return True
        held = live.get("spec") or {}
        holder = held.get("holderIdentity") or ""
        self._observe(holder, held.get("renewTime") or "")
        if holder != self._identity:
            if holder and time.monotonic() - self._observed_at < self._options.duration:
                return False
            spec |= {"acquireTime": now, "leaseTransitions": (held.get("leaseTransitions") or 0) + 1}
        await self._write(live, spec)
        self._observe(self._identity, now)
        return True

    def _observe(self, holder: str, renewed: str) -> None:
        if self._observed != (holder, renewed):
            self._observed = (holder, renewed)
            self._observed_at = time.monotonic()

    async def _write(self, live: Manifest, spec: dict[str, Any]) -> None:
        guard = {"resourceVersion": live["metadata"]["resourceVersion"]}
        await self._home.patch(LEASES, self._namespace, self._name, {"metadata": guard, "spec": spec})

    async def _release(self) -> None:
        try:
            async with asyncio.timeout(self._options.renew_deadline / 2):
                live = await self._home.get(LEASES, self._namespace, self._name)
                if (live.get("spec") or {}).get("holderIdentity") == self._identity:
                    await self._write(live, {"holderIdentity": "", "leaseDurationSeconds": 1})
        except (ApiError, TimeoutError) as error:
            # The others then wait for its end.
            _log.info("lease-not-released", lease=self._name, error=str(error) or "no answer in time")
