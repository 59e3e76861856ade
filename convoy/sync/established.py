"""The pause between a CRD and its first custom resource: Established, and known to discovery (D12).

Applied too early, a custom resource is answered with "kind unknown", and the second wave of a first install
fails for no reason that its author could mend.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from convoy.api.errors import DeployFailed
from convoy.api.rendered import RenderedObject
from convoy.kube.errors import KindUnknown, ServerFault
from convoy.kube.resources import CRDS
from convoy.kube.retry import with_retries
from convoy.kube.targets import Target
from convoy.sync.crd_check import Kind
from convoy.sync.interruptions import Interrupted

_ESTABLISHED_WITHIN = 60.0
_SERVED_WITHIN = 15.0
"""Seconds from Established until discovery names the kind; some 100 ms are usual."""
_POLL = 0.1
_MAX_POLL = 1.0


@dataclass(frozen=True, slots=True)
class _Crd:
    name: str
    versions: tuple[str, ...]
    """Those that it serves."""


class CrdGate:
    """The CRDs of one wave that were applied and not waited for yet."""

    def __init__(self, target: Target, *, should_stop: Callable[[], bool]) -> None:
        self._target = target
        self._should_stop = should_stop
        self._pending: dict[Kind, _Crd] = {}

    def applied(self, item: RenderedObject) -> None:
        """Note an object that was applied; only CRDs matter."""
        if (item.key.group, item.key.kind) == (CRDS.group, CRDS.kind):
            spec = item.manifest["spec"]
            versions = tuple(each["name"] for each in spec["versions"] if each.get("served"))
            kind = (spec["group"], spec["names"]["kind"])
            self._pending[kind] = _Crd(item.key.name, versions)

    async def wait_for(self, item: RenderedObject) -> None:
        """Wait until an object's kind is served, if its CRD was applied in this wave.

        Raises:
            DeployFailed: the CRD is not accepted, or not Established in time.
            Interrupted: `should_stop` said so.
            ApiError: the CRD cannot be read.
        """
        kind = (item.key.group, item.key.kind)
        crd = self._pending.pop(kind, None)
        if crd is None:
            return
        await self._established(crd.name)
        await self._known({kind: crd})

    async def wait_for_all(self) -> None:
        """Wait for all that is left, at the end of the wave. Raises as `wait_for`."""
        if not self._pending:
            return
        for crd in self._pending.values():
            await self._established(crd.name)
        await self._known(self._pending)
        self._pending.clear()

    async def _established(self, name: str) -> None:
        async def established() -> bool:
            crd = await with_retries(lambda: self._target.client.get(CRDS, None, name))
            # A CRD that was just made has `conditions: null`.
            conditions = {each["type"]: each for each in (crd.get("status") or {}).get("conditions") or ()}
            refused: dict[str, Any] = conditions.get("NamesAccepted", {})
            if refused.get("status") == "False":
                raise DeployFailed(
                    f"CustomResourceDefinition {name}: {refused.get('message', 'not accepted')}"
                )
            return bool(conditions.get("Established", {}).get("status") == "True")

        if not await self._until(established, _ESTABLISHED_WITHIN):
            raise DeployFailed(
                f"CustomResourceDefinition {name} is not Established after {_ESTABLISHED_WITHIN:g} s"
            )

    async def _known(self, crds: Mapping[Kind, _Crd]) -> None:
        discovery = self._target.discovery

        async def known() -> bool:
            # Refreshed first: the dry run has left the kind in discovery's memory of unknown ones.
            await with_retries(discovery.refresh)
            try:
                for (group, kind), crd in crds.items():
                    for version in crd.versions:
                        await discovery.resource_for(group, kind, version)
            except (KindUnknown, ServerFault):
                return False
            return True

        # Not known in time: the apply then says which kind or version it is.
        await self._until(known, _SERVED_WITHIN)

    async def _until(self, done: Callable[[], Any], within: float) -> bool:
        loop = asyncio.get_running_loop()
        deadline, pause = loop.time() + within, _POLL
        while not await done():
            if self._should_stop():
                raise Interrupted("interrupted while a CustomResourceDefinition became ready")
            if loop.time() >= deadline:
                return False
            await asyncio.sleep(pause)
            pause = min(2 * pause, _MAX_POLL)
        return True
