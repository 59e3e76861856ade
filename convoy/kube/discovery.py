"""Which kinds an API server serves, in two requests, kept fresh by ETag.

Aggregated discovery (`v2`, then `v2beta1`) answers for all groups at once; a server that knows neither is
asked group by group. A kind that is not known costs one conditional refresh and is then remembered as
unknown for a moment, so that a render of thousands of unknown objects does not cost a request each. What is
remembered may be outdated in both directions, so whoever asks about an object goes through `Discovery.ask`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from convoy.api.objects import ObjectKey
from convoy.kube.classify import error_of, unknown_kind
from convoy.kube.client import Answer, KubeClient
from convoy.kube.discovery_documents import Aggregated, LegacyGroups, LegacyResources
from convoy.kube.errors import KindUnknown, NotFound, Rejected, ScopeChanged, ServerFault
from convoy.kube.resources import Resource

T = TypeVar("T")

_AGGREGATED = ",".join(
    [
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
        "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",
        "application/json",
    ]
)
NEGATIVE_SECONDS = 1.0
"""How long an unknown kind is remembered as unknown. Shorter than a request is tried again (D15), so that one for a
kind that is just being defined is answered by what the server serves then, on whichever worker it is made."""
FRESH_SECONDS = 300.0
"""After this age a known kind is asked for again: its preferred version may have changed."""


class _Build(msgspec.Struct):
    gitVersion: str


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a chart may ask about its target."""

    kube_version: str
    """`v1.34.4`."""
    api_versions: tuple[str, ...]
    """`apps/v1` and `apps/v1/Deployment` of everything that is served, sorted."""


@dataclass(slots=True)
class _Root:
    """One of the two documents, with the ETag that it came with."""

    path: str
    etag: str = ""
    resources: tuple[Resource, ...] = ()
    stale: frozenset[str] = frozenset()
    """Groups of aggregated APIs that do not answer the API server at the moment."""


class Discovery:
    """The kinds of one API server. Safe to share between tasks; refreshes are made one at a time."""

    def __init__(self, client: KubeClient, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._clock = clock
        self._roots = (_Root("/api"), _Root("/apis"))
        self._by_kind: dict[tuple[str, str], list[Resource]] = {}
        self._unknown: dict[tuple[str, str, str | None], float] = {}
        self._refreshed_at: float | None = None
        self._lock = asyncio.Lock()

    async def resource_for(self, group: str, kind: str, version: str | None = None) -> Resource:
        """Return how the server serves a kind, in its preferred version if `version` is None.

        Raises:
            KindUnknown: the server does not serve it, also after a refresh.
            ServerFault: its group belongs to an aggregated API that is down, so nobody can tell (prune
            counts an
                unknown kind as absent, D19).
            ApiError: the server could not be asked.
        """
        wanted = (group, kind, version)
        now = self._clock()
        if self._refreshed_at is not None and now - self._refreshed_at < FRESH_SECONDS:
            found = self._find(*wanted)
            if found is not None:
                return found
            if self._unknown.get(wanted, -1.0) > now:
                raise KindUnknown(unknown_kind(*wanted), status=404)
        await self._refresh_since(now)
        found = self._find(*wanted)
        if found is not None:
            return found
        if any(group in root.stale for root in self._roots):
            raise ServerFault(f"the aggregated API of group {group} does not answer the API server")
        self._unknown[wanted] = self._clock() + NEGATIVE_SECONDS
        raise KindUnknown(unknown_kind(*wanted), status=404)

    async def ask(
        self, key: ObjectKey, call: Callable[[Resource], Awaitable[T]], *, version: str | None = None
    ) -> T:
        """Make a request about an object, by the way its kind is served: in the preferred version if `version` is None.

        A 404 does not say that the kind is gone, since the version that is remembered may be one that the server
        serves no longer. So it is asked what it serves, and then about the object once more.

        Raises:
            KindUnknown: the server does not serve the kind, by its own word of this moment.
            ScopeChanged: an object of this kind cannot have this key.
            Rejected: there are no objects of this kind, such as of reviews.
            ServerFault: nobody can tell, see `resource_for`; or it names the kind and does not serve it.
            ApiError: the server could not be asked, or what `call` raises.
        """
        began = self._clock()
        resource = await self._resource_of(key, version)
        try:
            return await call(resource)
        except KindUnknown:
            await self._refresh_since(began)
        resource = await self._resource_of(key, version)
        try:
            return await call(resource)
        except KindUnknown as error:
            if resource.verbs and resource.verbs.isdisjoint(("get", "patch")):
                # A review, say. No object of it is kept, so no path leads to one.
                offered = ", ".join(sorted(resource.verbs))
                raise Rejected(
                    f"the cluster keeps no objects of this kind; it only offers: {offered}"
                ) from error
            raise ServerFault(
                f"the cluster says that it serves {resource.api_version} {resource.kind}, but answers 404"
            ) from error

    async def groups_of(self, kind: str) -> tuple[str, ...]:
        """Return the groups that serve a kind of this name.

        Raises:
            ApiError: the server could not be asked.
        """
        if self._refreshed_at is None:
            await self.refresh()
        return tuple(group for group, name in self._by_kind if name == kind)

    async def namespaced(self, group: str, kind: str) -> bool | None:
        """Return whether a kind is namespaced, or None where the server does not know it.

        Raises:
            ApiError: the server could not be asked.
        """
        try:
            return (await self.resource_for(group, kind)).namespaced
        except KindUnknown:
            return None

    async def resources(self) -> tuple[Resource, ...]:
        """Return everything that the server serves, preferred versions first.

        Raises:
            ApiError: the server could not be asked.
        """
        if self._refreshed_at is None:
            await self.refresh()
        return tuple(resource for root in self._roots for resource in root.resources)

    async def capabilities(self) -> Capabilities:
        """Return the server's version and everything that it serves, as of now; for a chart's conditions.

        Raises:
            ApiError: the server could not be asked.
        """
        answer, _ = await asyncio.gather(self._client.request("GET", "/version"), self.refresh())
        if answer.status >= 300:
            raise error_of(answer.status, answer.headers, answer.body)
        try:
            version = msgspec.json.decode(answer.body, type=_Build).gitVersion
        except msgspec.DecodeError as error:
            raise ServerFault("/version is no version") from error
        served = await self.resources()
        groups = {resource.api_version for resource in served}
        kinds = {f"{resource.api_version}/{resource.kind}" for resource in served}
        return Capabilities(version, tuple(sorted(groups | kinds)))

    async def refresh(self) -> None:
        """Ask the server now; unchanged documents cost an empty answer. Forgets which kinds were unknown.

        Raises:
            ApiError: the server could not be asked; what was known stays.
        """
        await self._refresh_since(self._clock())

    async def _refresh_since(self, asked_at: float) -> None:
        async with self._lock:
            if self._refreshed_at is not None and self._refreshed_at > asked_at:
                return  # Another task refreshed while this one waited.
            started = self._clock()
            await asyncio.gather(*(self._load(root) for root in self._roots))
            by_kind: dict[tuple[str, str], list[Resource]] = {}
            for root in self._roots:
                for resource in root.resources:
                    by_kind.setdefault((resource.group, resource.kind), []).append(resource)
            self._by_kind = by_kind
            self._unknown.clear()
            self._refreshed_at = started

    async def _resource_of(self, key: ObjectKey, version: str | None) -> Resource:
        resource = await self.resource_for(key.group, key.kind, version)
        if resource.namespaced != bool(key.namespace):
            scope = "namespaced" if resource.namespaced else "cluster-scoped"
            raise ScopeChanged(
                f"its kind is {scope} on the cluster, which was not known when it was rendered"
            )
        return resource

    def _find(self, group: str, kind: str, version: str | None) -> Resource | None:
        for resource in self._by_kind.get((group, kind), ()):
            if version is None or resource.version == version:
                return resource
        return None

    async def _load(self, root: _Root) -> None:
        headers = {"If-None-Match": root.etag} if root.etag else None
        answer = await self._client.request("GET", root.path, accept=_AGGREGATED, headers=headers)
        if answer.status == 304:
            return
        if answer.status == 404:
            # A proxy's word, and no API server's: it must not make every kind unknown.
            raise ServerFault(f"{root.path} is answered with 404", status=404)
        if answer.status >= 300:
            raise error_of(answer.status, answer.headers, answer.body)
        try:
            kind = msgspec.json.decode(answer.body, type=LegacyGroups).kind
            if kind == "APIGroupDiscoveryList":
                document = msgspec.json.decode(answer.body, type=Aggregated)
                root.resources = tuple(document.resources())
                root.stale = document.stale()
                root.etag = answer.headers.get("ETag", "")
            else:
                root.resources, root.stale = await self._legacy(root, answer)
                root.etag = ""
        except msgspec.DecodeError as error:
            raise ServerFault(f"{root.path} is no discovery document") from error

    async def _legacy(self, root: _Root, answer: Answer) -> tuple[tuple[Resource, ...], frozenset[str]]:
        groups = msgspec.json.decode(answer.body, type=LegacyGroups)
        found: list[Resource] = []
        stale: set[str] = set()
        for group, version in groups.pairs(core=root.path == "/api"):
            path = f"/apis/{group}/{version}" if group else f"/api/{version}"
            document = await self._client.request("GET", path)
            if document.status >= 300:
                error = error_of(document.status, document.headers, document.body)
                if isinstance(error, KindUnknown | NotFound | ServerFault):
                    stale.add(group)  # One aggregated API that is down must not hide all the other kinds.
                    continue
                raise error
            found += msgspec.json.decode(document.body, type=LegacyResources).of(group, version)
        return tuple(found), frozenset(stale)
