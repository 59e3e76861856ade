"""The Release: what to render, where to apply it, and by which policy.

Defaults stand here and not in the schema: the API server would write them into every stored object, and a
default changed later would look like a change of everybody's spec. `automatic` and `interval` have none
(`reference/sync-policy`).
The status is in `release_status.py`; source, content, mutations and hooks have files of their own.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from convoy.api.common import RULES, ApiModel, CelRule, GoDuration, LocalRef, Resource, Text
from convoy.api.content import Content
from convoy.api.hooks import Lifecycle
from convoy.api.mutations import Mutation
from convoy.api.release_status import RENDER_REF, ReleaseStatus
from convoy.api.source import Source

KIND = "Release"
PLURAL = "releases"
MAX_NAME_LENGTH = 180
"""Longer names would push workflow ids beyond 255 characters (design 04, rule 13)."""
HISTORY_LIMIT = 10
"""Length of status.history where the spec names none."""

Pointer = Annotated[str, StringConstraints(pattern=r"^/", max_length=1024)]
Expression = Annotated[str, StringConstraints(min_length=1, max_length=4096)]


_OPEN_METADATA = ("labels", "annotations", "finalizers", "ownerReferences")

_IMMUTABLE = CelRule("self == oldSelf", "cannot be changed; delete the Release and make it again")


class RetryBackoff(ApiModel):
    """Delay before retry number n: initial × factor^(n-1), at most max."""

    rules = (
        CelRule(
            "!has(self.initial) || !has(self.max) || duration(self.max) >= duration(self.initial)",
            "max must not be below initial",
        ),
    )

    initial: GoDuration | None = None
    """The first delay. Not set or 0: the default limiter, 5 ms doubling to 1000 s."""
    factor: Annotated[float, Field(allow_inf_nan=False)] | None = None
    """Any number; below 1 (and not set) counts as 2."""
    max: GoDuration | None = None
    """The longest delay. Default: 1000 s."""

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.initial is not None and self.max is not None and self.max < self.initial:
            raise ValueError("max must not be below initial")
        return self


class PrunePolicy(ApiModel):
    """What happens to objects that left the render."""

    orphaned: bool = False
    """Whether they are deleted. Default: false."""
    after_healthy: bool = False
    """Whether the prune waits until the new render is healthy. Default: false."""
    max_percent: Annotated[int, Field(ge=0, le=100)] = 100
    """A prune of more than this share of the inventory waits for a forced sync. Default: 100."""


class SyncPolicy(ApiModel):
    """When a render is applied, how often the Release is reconciled, and how failures are retried."""

    automatic: bool | None = None
    """Whether each reconcile applies the render. No default: not set means manual."""
    interval: GoDuration | None = None
    """Period of the reconcile and of the drift check; below 1s counts as 1s. No default: not set or 0 means none.

    The resync (`--resync`, of all Releases, 2m by default) reconciles and checks too: the shorter one counts.
    """
    retry_backoff: RetryBackoff = RetryBackoff()
    prune: PrunePolicy = PrunePolicy()
    on_delete: Literal["Orphan", "Prune"] = "Orphan"
    """What happens to the applied objects when the Release is deleted. Default: Orphan."""


class SyncWave(ApiModel):
    """Strategy of a wave."""

    wave: int
    """Number of the wave; with Health it is the one that waits."""
    strategy: Literal["Apply", "Health"] = "Apply"
    """Health: the wave waits until the previous wave of the render is healthy. Default: Apply."""
    timeout: GoDuration | None = None
    """How long it waits at most, then the sync fails. Default: 10m."""


def _refuse_identity(pointer: str) -> str:
    """Refuse a path to what says which object it is: without it there is nothing to compare or to apply."""
    first, _, rest = pointer.removeprefix("/").partition("/")
    if first in ("apiVersion", "kind") or (
        first == "metadata" and rest.partition("/")[0] not in _OPEN_METADATA
    ):
        raise ValueError("names the object itself and cannot be left out")
    return pointer


class HealthCheck(ApiModel):
    """CEL over the live object (`object`), for a kind that the built-in rules do not know."""

    group: Annotated[str, StringConstraints(max_length=253)] = ""
    """Group of the kind. Default: the core group."""
    kind: Text
    """The kind."""
    healthy: Expression
    """Whether the object is healthy, for example `object.status.phase == 'Ready'`."""
    failed: Expression | None = None
    """Whether it has failed. Default: it never has."""


class IgnoreDifferences(ApiModel):
    """Fields left out of the compare and of the apply request (D36)."""

    group: Annotated[str, StringConstraints(max_length=253)] = ""
    """Group of the kind. Default: the core group."""
    kind: Text
    """The kind."""
    name: Text = "*"
    """A glob. Default: `*`."""
    paths: Annotated[
        tuple[Annotated[Pointer, AfterValidator(_refuse_identity)], ...], Field(min_length=1, max_length=256)
    ]
    """JSON pointers. Of the metadata only labels, annotations, finalizers and ownerReferences can be left out."""


class FailurePolicy(ApiModel):
    """What happens when a new render does not become healthy."""

    action: Literal["Hold", "Rollback"]
    """Hold leaves the failed render as it is; Rollback goes back to the last healthy one, from the render store."""
    health_timeout: GoDuration = timedelta(minutes=10)
    """How long a render has to be applied and healthy, from the start of its rollout. 0: no limit. Default: 10m."""


class ReleaseSpec(ApiModel):
    """The desired state of a Release."""

    cluster_ref: Annotated[LocalRef, Field(json_schema_extra={RULES: [_IMMUTABLE.tree()]})]
    """The Cluster that the render is applied to, in the same namespace. It cannot be changed."""
    cluster_wave: Annotated[int, Field(ge=-(2**31), le=2**31 - 1)] = 0
    """Releases of one Cluster with a lower number must be Applied and Healthy first. Default: 0."""
    suspend: bool = False
    """Whether convoy leaves this Release alone. Default: false."""
    source: Source
    content: Content
    sync_policy: SyncPolicy = SyncPolicy()
    sync_waves: Annotated[
        tuple[SyncWave, ...],
        Field(
            max_length=256,
            json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["wave"]},
        ),
    ] = ()
    """Waves that are not listed have the strategy Apply."""
    health_checks: Annotated[tuple[HealthCheck, ...], Field(max_length=128)] = ()
    """How the health of kinds is told that the built-in rules do not know."""
    ignore_differences: Annotated[tuple[IgnoreDifferences, ...], Field(max_length=256)] = ()
    """Fields that others may own: left out of the compare and of the apply request."""
    failure_policy: FailurePolicy | None = None
    history_limit: Annotated[int, Field(ge=1, le=100)] = HISTORY_LIMIT
    """Length of status.history. Default: 10."""


class Pin(ApiModel):
    """Holds the Release on one stored render."""

    render_ref: Annotated[str, StringConstraints(pattern=RENDER_REF)]
    """Digest of the render; `status.history` lists those that were applied."""


class Release(Resource):
    """A set of objects that are rendered, applied and watched together."""

    rules = (
        CelRule(
            f"self.metadata.name.size() <= {MAX_NAME_LENGTH}",
            f"metadata.name must not be longer than {MAX_NAME_LENGTH} characters",
        ),
    )

    spec: ReleaseSpec
    mutations: Annotated[tuple[Mutation, ...], Field(max_length=256)] = ()
    """Changes to the render, in order."""
    lifecycle: Lifecycle = Lifecycle()
    pin: Pin | None = None
    status: ReleaseStatus = ReleaseStatus()
