"""The Release: what to render, where to apply it, and by which policy.

Defaults stand here and not in the schema: the API server would write them into every stored object, and a
default changed later would look like a change of everybody's spec. `automatic` and `interval` have none
(`reference/sync-policy`).
The status is in `release_status.py`, mutations and hooks are in `mutations.py` and `hooks.py`.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from convoy.api.common import RULES, ApiModel, CelRule, GoDuration, LocalRef, Resource
from convoy.api.hooks import Lifecycle
from convoy.api.mutations import Mutation
from convoy.api.release_status import RENDER_REF, ReleaseStatus

KIND = "Release"
PLURAL = "releases"
MAX_NAME_LENGTH = 180
"""Longer names would push workflow ids beyond 255 characters (design 04, rule 13)."""
HISTORY_LIMIT = 10
"""Length of status.history where the spec names none."""

Url = Annotated[str, StringConstraints(min_length=1, max_length=2048)]
HttpUrl = Annotated[str, StringConstraints(pattern=r"^https?://", max_length=2048)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=253)]
Pattern = Annotated[str, StringConstraints(min_length=1, max_length=1024)]
Pointer = Annotated[str, StringConstraints(pattern=r"^/", max_length=1024)]
Expression = Annotated[str, StringConstraints(min_length=1, max_length=4096)]


_OPEN_METADATA = ("labels", "annotations", "finalizers", "ownerReferences")

_IMMUTABLE = CelRule("self == oldSelf", "cannot be changed; delete the Release and make it again")


class GitRef(ApiModel):
    """What to check out. Default: the repository's own default branch."""

    at_most_one_of = ("branch", "tag", "semver", "commit")

    branch: Text | None = None
    """The head of this branch."""
    tag: Text | None = None
    """This tag."""
    semver: Text | None = None
    """The highest tag in this range, for example `>=1.2 <2`."""
    commit: Annotated[str, StringConstraints(pattern=r"^[0-9a-fA-F]{7,64}$", max_length=64)] | None = None
    """This commit."""


class GitSource(ApiModel):
    """A git repository."""

    url: Url
    """A file, http(s) or ssh URL."""
    ref: GitRef = GitRef()
    secret_ref: LocalRef | None = None
    """A Secret with credentials in the Release's namespace."""


class OciSource(ApiModel):
    """An artifact in an OCI registry."""

    at_most_one_of = ("tag", "semver", "digest")

    url: Annotated[str, StringConstraints(pattern=r"^oci://", max_length=2048)]
    """`oci://host/repository`."""
    tag: Text | None = None
    """This tag. Default, where neither semver nor digest is set: `latest`."""
    semver: Text | None = None
    """The highest tag in this range."""
    digest: Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")] | None = None
    """The artifact with this digest."""
    secret_ref: LocalRef | None = None
    """A Secret with credentials in the Release's namespace."""
    insecure: bool = False
    """Plain HTTP. Default: false."""


class HelmSource(ApiModel):
    """A chart in a Helm repository."""

    url: HttpUrl
    """URL of the repository, which serves an `index.yaml`."""
    chart: Text
    """Name of the chart."""
    version: Text | None = None
    """An exact version or a semver range. Default: the latest stable version."""
    secret_ref: LocalRef | None = None
    """A Secret with credentials in the Release's namespace."""


class HttpSource(ApiModel):
    """One .tar.gz behind a URL."""

    url: HttpUrl
    """URL of the archive."""
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] | None = None
    """The digest that the archive must have."""


class InlineSource(ApiModel):
    """Files in the Release itself."""

    files: dict[str, str]
    """Path to content."""


class Source(ApiModel):
    """Where the files come from: exactly one of its fields."""

    one_of = ("git", "oci", "helm", "http", "configMap", "inline")

    git: GitSource | None = None
    oci: OciSource | None = None
    helm: HelmSource | None = None
    http: HttpSource | None = None
    config_map: LocalRef | None = None
    """A ConfigMap in the Release's namespace; each key is a file."""
    inline: InlineSource | None = None


class ManifestsContent(ApiModel):
    """Plain YAML and JSON files."""

    include: Annotated[tuple[Pattern, ...], Field(max_length=256)] = ("*.yaml", "*.yml", "*.json")
    """Globs of the files to read. Default: `*.yaml`, `*.yml`, `*.json`."""
    exclude: Annotated[tuple[Pattern, ...], Field(max_length=256)] = ()
    """Globs of the files to leave out."""


class KustomizeContent(ApiModel):
    """A kustomization."""


class ValuesRef(ApiModel):
    """A key with Helm values in YAML: exactly one of configMapRef and secretRef."""

    one_of = ("configMapRef", "secretRef")

    config_map_ref: LocalRef | None = None
    secret_ref: LocalRef | None = None
    key: Text = "values.yaml"
    """Which of its keys holds the values. Default: `values.yaml`."""
    optional: bool = False
    """Whether it may be missing. Default: false."""


class HelmContent(ApiModel):
    """A Helm chart."""

    release_name: Annotated[str, StringConstraints(min_length=1, max_length=53)] | None = None
    """What the chart sees as the name of its release. Default: the name of the Release."""
    namespace: Annotated[str, StringConstraints(min_length=1, max_length=63)] = "default"
    """Where objects go that name no namespace. Default: `default`."""
    values: dict[str, Any] = Field(default_factory=dict)
    """Values in the Release; they win over those of valuesFrom."""
    values_from: Annotated[tuple[ValuesRef, ...], Field(max_length=64)] = ()
    """Values from ConfigMaps and Secrets, a later one wins."""
    include_crds: Annotated[bool, Field(alias="includeCRDs")] = True
    """Whether the CRDs in the chart's `crds` folder are applied too. Default: true."""


class Content(ApiModel):
    """What the files are: exactly one of manifests, kustomize and helm."""

    one_of = ("manifests", "kustomize", "helm")

    path: Annotated[str, StringConstraints(min_length=1, max_length=1024)] = "."
    """Folder inside the source. Default: `.`"""
    allow_empty: bool = False
    """Whether a render of zero objects is meant (D4). Default: false."""
    manifests: ManifestsContent | None = None
    kustomize: KustomizeContent | None = None
    helm: HelmContent | None = None


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
