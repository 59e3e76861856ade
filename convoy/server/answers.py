"""What the subresources answer, field by field. The OpenAPI document is made from these types.

Structs and not resource models: a manifest or a changed field in an answer may hold null, which counts here.
"""

from __future__ import annotations

from typing import Any, Literal, Self

import msgspec
from msgspec import UNSET, UnsetType

from convoy.api.objects import ObjectKey
from convoy.drift import results
from convoy.server.names import API_VERSION


class _Struct(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """Base: camelCase, by keyword."""


class Metadata(_Struct, frozen=True, kw_only=True):
    """Which Release the answer is about."""

    name: str
    namespace: str
    resource_version: str | UnsetType = UNSET
    """Of the Release. In a PUT without a generation: what it must be, if it is given."""
    generation: int | UnsetType = UNSET
    """Of the Release. In a PUT: what it must be, if it is given, whatever convoy has written into the status since."""


class Answer(_Struct, frozen=True, kw_only=True):
    """Base of all answers; `kind` is the name of the type."""

    metadata: Metadata
    api_version: Literal["subresources.convoy.kumodo.io/v1alpha1"] = API_VERSION


class ObjectRef(_Struct, frozen=True, kw_only=True):
    """An object of the target cluster."""

    group: str
    kind: str
    namespace: str
    name: str

    @classmethod
    def of(cls, key: ObjectKey, **more: Any) -> Self:
        """Name an object; `more` are the other fields of the type."""
        return cls(group=key.group, kind=key.kind, namespace=key.namespace, name=key.name, **more)


class ReleaseSync(Answer, frozen=True, kw_only=True):
    """A sync was requested."""

    requested_at: str
    """The request's id: the value of the annotation `convoy.kumodo.io/sync-requested-at`."""
    forced: bool
    kind: Literal["ReleaseSync"] = "ReleaseSync"


class InSync(_Struct, frozen=True, kw_only=True):
    """The words of the condition InSync."""

    status: str
    """True, False or Unknown."""
    reason: str
    """InSync, Drifted or Undetermined."""
    message: str


class Counts(_Struct, frozen=True, kw_only=True):
    """How many objects the render has, and what became of them."""

    total: int
    compared: int
    in_sync: int
    modified: int
    missing: int

    @classmethod
    def of(cls, counts: results.Counts) -> Self:
        """Return the counts of a pass."""
        return cls(
            total=counts.total,
            compared=counts.compared,
            in_sync=counts.in_sync,
            modified=counts.modified,
            missing=counts.missing,
        )


class Failed(ObjectRef, frozen=True, kw_only=True):
    """The object at which the compare stopped."""

    message: str


class ReleaseDiff(Answer, frozen=True, kw_only=True):
    """The render compared with the live objects, by the engine of the drift loop."""

    in_sync: InSync
    counts: Counts | UnsetType = UNSET
    render_ref: str | UnsetType = UNSET
    """Absent where there is no desired render; the message of inSync says why."""
    revision: str | UnsetType = UNSET
    desired: str | UnsetType = UNSET
    """Where the render comes from: pin, lastHealthy, fresh; or named, by `?render=`."""
    objects: tuple[dict[str, Any], ...] = ()
    """In render order: group, kind, namespace, name, status (InSync, Modified, Missing) and changes, each with pointer,
    live, desired and owner. Values of Secrets are fingerprints."""
    failure: Failed | UnsetType = UNSET
    kind: Literal["ReleaseDiff"] = "ReleaseDiff"


class PreviewObject(ObjectRef, frozen=True, kw_only=True):
    """One object of the render."""

    api_version: str
    origin: str
    """Where it was read: file, document and line."""
    manifest: dict[str, Any]
    """As it would be applied; values of Secrets are fingerprints."""


class PreviewHook(_Struct, frozen=True, kw_only=True):
    """One hook of the Release or of its chart, in the order in which they run."""

    stage: str
    """preSync or postSync."""
    name: str
    kind: str
    """Job, Approval, or Objects: what a chart's hook Jobs need, applied before them."""
    runs: bool
    """Whether a sync that a person asks for now would run it; false where it has run for this render."""
    objects: tuple[ObjectRef, ...] = ()


class PreviewWave(_Struct, frozen=True, kw_only=True):
    """The objects of one wave, in the order of the apply."""

    wave: int
    strategy: str
    objects: tuple[PreviewObject, ...]


class Warning(_Struct, frozen=True, kw_only=True):
    """Something in the render that will not go as its author may think."""

    message: str
    object: ObjectRef | UnsetType = UNSET


class PruneDecision(ObjectRef, frozen=True, kw_only=True):
    """What a prune would do with one object that the render no longer contains."""

    wave: int
    action: str
    """delete, keep, absent, or unknown where it cannot be looked at."""
    reason: str


class PrunePlan(_Struct, frozen=True, kw_only=True):
    """What a sync of this render would prune, in its order."""

    enabled: bool
    """`spec.syncPolicy.prune.orphaned`."""
    objects: tuple[PruneDecision, ...] = ()
    message: str | UnsetType = UNSET
    """What would hold the prune back."""


class ReleasePreview(Answer, frozen=True, kw_only=True):
    """What a sync would apply and prune."""

    render_ref: str
    revision: str
    desired: str
    """Where the render comes from: pin, lastHealthy or fresh."""
    waves: tuple[PreviewWave, ...]
    hooks: tuple[PreviewHook, ...]
    warnings: tuple[Warning, ...]
    prune: PrunePlan
    kind: Literal["ReleasePreview"] = "ReleasePreview"


class ReleasePin(Answer, frozen=True, kw_only=True):
    """The render that the Release is held on."""

    render_ref: str = ""
    """Empty: none."""
    requested_at: str | UnsetType = UNSET
    """The sync request that the write made."""
    kind: Literal["ReleasePin"] = "ReleasePin"


class ReleaseMutations(Answer, frozen=True, kw_only=True):
    """The changes that a Release makes to its own render."""

    mutations: tuple[dict[str, Any], ...] = ()
    """As in the Release."""
    requested_at: str | UnsetType = UNSET
    """The sync request that the write made."""
    kind: Literal["ReleaseMutations"] = "ReleaseMutations"


class ReleaseLifecycle(Answer, frozen=True, kw_only=True):
    """The hooks of a Release."""

    pre_sync: tuple[dict[str, Any], ...] = ()
    """As in the Release."""
    post_sync: tuple[dict[str, Any], ...] = ()
    """As in the Release."""
    requested_at: str | UnsetType = UNSET
    """The sync request that the write made."""
    kind: Literal["ReleaseLifecycle"] = "ReleaseLifecycle"


class ChangedObject(ObjectRef, frozen=True, kw_only=True):
    """An object that two renders have in different forms."""

    fields: tuple[str, ...]
    """JSON pointers."""


class RenderChanges(_Struct, frozen=True, kw_only=True):
    """What differs from the next older render."""

    added: tuple[ObjectRef, ...] = ()
    removed: tuple[ObjectRef, ...] = ()
    changed: tuple[ChangedObject, ...] = ()


class HistoryItem(_Struct, frozen=True, kw_only=True):
    """A render that was applied."""

    render_ref: str
    stored: bool
    """Whether it can be pinned."""
    pinned: bool
    revision: str | UnsetType = UNSET
    applied_at: str | UnsetType = UNSET
    healthy_at: str | UnsetType = UNSET
    rollout: str | UnsetType = UNSET
    """Phase of the rollout, of the render that is or was rolled out last."""
    trigger: str | UnsetType = UNSET
    desired: str | UnsetType = UNSET
    """`pin` or `lastHealthy`: why it was that render and not the source's, as in ReleasePreview."""
    objects: int | UnsetType = UNSET
    changes: RenderChanges | UnsetType = UNSET
    """Absent where one of the two renders is not kept any more, and for the oldest."""


class ReleaseHistory(Answer, frozen=True, kw_only=True):
    """The renders that were applied, newest first."""

    items: tuple[HistoryItem, ...]
    kind: Literal["ReleaseHistory"] = "ReleaseHistory"


class ReleaseCheck(Answer, frozen=True, kw_only=True):
    """One drift pass, made now."""

    verdict: str
    message: str
    began_at: str
    compared: int
    in_sync: int
    modified: int
    missing: int
    objects: tuple[dict[str, Any], ...] | UnsetType = UNSET
    """The objects that are Modified or Missing, as in ReleaseDiff; absent where their changes are kept elsewhere."""
    kind: Literal["ReleaseCheck"] = "ReleaseCheck"


class ReleaseApproval(Answer, frozen=True, kw_only=True):
    """A hook was approved."""

    hook: str
    approved_by: str
    kind: Literal["ReleaseApproval"] = "ReleaseApproval"


ANSWERS = (
    ReleaseSync,
    ReleaseDiff,
    ReleasePreview,
    ReleasePin,
    ReleaseMutations,
    ReleaseLifecycle,
    ReleaseHistory,
    ReleaseCheck,
    ReleaseApproval,
)
