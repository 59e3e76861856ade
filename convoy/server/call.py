"""One call of a subresource, and what all of them work with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Protocol

from convoy.api.objects import Manifest
from convoy.api.release import Release
from convoy.kube.annotate import request_sync
from convoy.kube.client import KubeClient
from convoy.kube.resources import RELEASES
from convoy.kube.retry import with_retries
from convoy.server.answers import Metadata
from convoy.server.front_proxy import User
from convoy.server.refusals import BadRequest, TooMany
from convoy.store.crypto import InstallationKey
from convoy.store.renders import Renders
from convoy.sync.desired import DesiredRenders
from convoy.sync.ownership import Ownership

RETRY_SECONDS: Final = 2


@dataclass(frozen=True, slots=True)
class Checked:
    """What a drift pass found (D37)."""

    verdict: str
    uid: str
    message: str
    began_at: str
    compared: int
    in_sync: int
    modified: int
    missing: int
    changes: str
    """Name of the blob with the objects that drifted; empty where none did."""


class Workflows(Protocol):
    """What the API asks of the durable side; the application implements it."""

    async def check(self, namespace: str, name: str, uid: str) -> Checked:
        """Make a drift pass now and return what it found.

        Raises:
            Unavailable: the durable side does not answer.
        """
        ...

    async def approve(self, namespace: str, name: str, *, hook: str, user: str) -> None:
        """Let a hook go on that waits for a person.

        Raises:
            Conflict: no sync waits for it.
            Unavailable: the durable side does not answer.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Everything that outlives one call."""

    home: KubeClient
    desired: DesiredRenders
    renders: Renders
    key: InstallationKey
    ownership: Ownership
    workflows: Workflows
    busy: set[tuple[str, str]] = field(default_factory=set)
    """Releases of which a render is being made or compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One authorised call."""

    services: Services
    user: User
    namespace: str
    name: str
    query: Mapping[str, str]
    body: Manifest

    async def tree(self) -> Manifest:
        """Read the Release; raises `NotFound` of the API server's."""
        home = self.services.home
        return await with_retries(lambda: home.get(RELEASES, self.namespace, self.name))

    async def release(self) -> Release:
        """Read the Release; also raises `Unsupported` where its spec makes no sense."""
        return Release.read(await self.tree())

    def metadata(self, release: Release | None = None) -> Metadata:
        """Return the metadata of the answer, with the Release's version if it is given."""
        if release is None:
            return Metadata(name=self.name, namespace=self.namespace)
        return Metadata(
            name=self.name,
            namespace=self.namespace,
            resource_version=release.metadata.resource_version,
            generation=release.metadata.generation,
        )

    def flag(self, name: str) -> bool:
        """Read a parameter that is true or false; raises BadRequest for anything else."""
        value = self.query.get(name, "false")
        if value not in ("true", "false"):
            raise BadRequest(f"parameter {name}: expected true or false")
        return value == "true"

    @property
    def dry_run(self) -> bool:
        """Whether nothing may be written (`?dryRun=All`); raises BadRequest for another value."""
        value = self.query.get("dryRun", "")
        if value not in ("", "All"):
            raise BadRequest("parameter dryRun: expected All")
        return value == "All"

    def refuse_dry_run(self) -> None:
        """Raise BadRequest for a dry run of what cannot be done without effect."""
        if self.dry_run:
            raise BadRequest("this subresource has no dry run")

    async def write(
        self, uid: str, changes: Mapping[str, Any], *, precondition: Mapping[str, Any] | None = None
    ) -> str:
        """Change the Release with this UID together with the request that makes it count; return its time."""
        return await request_sync(
            self.services.home,
            self.namespace,
            self.name,
            now=datetime.now(UTC),
            uid=uid,
            precondition=precondition,
            changes=changes,
            dry_run=self.dry_run,
        )

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the one place for renders and compares of this Release; raises TooMany where it is taken."""
        place = (self.namespace, self.name)
        if place in self.services.busy:
            raise TooMany(
                f"a diff or a preview of Release {self.namespace}/{self.name} runs already",
                name=self.name,
                retry_after=RETRY_SECONDS,
            )
        self.services.busy.add(place)
        try:
            yield
        finally:
            self.services.busy.remove(place)
