"""The ReleaseInventory: what convoy applied for a Release, and so may prune.

Objects stand in groups with atomic lists: a list merged by key would put each name into managedFields too,
and ten thousand objects would no longer fit into etcd.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from convoy.api.common import ApiModel, LocalRef, Resource, Time, one_of_texts

KIND = "ReleaseInventory"
PLURAL = "releaseinventories"

_ATOMIC = Field(json_schema_extra={"x-kubernetes-list-type": "atomic"})

HealthPhase = Annotated[str, one_of_texts("Healthy", "Progressing", "Degraded", "Unknown")]


class InventoryItem(ApiModel):
    """One object of a group."""

    name: str
    """Name of the object."""
    uid: str | None = None
    """Its UID, where it is known."""


class InventoryGroup(ApiModel):
    """Objects that stand side by side in apply order and share all but their names."""

    wave: int = 0
    """Their wave."""
    group: str = ""
    """Their group; the core group is the empty text."""
    kind: str
    """Their kind."""
    namespace: str = ""
    """Their namespace; empty for cluster-scoped ones."""
    recorded_at: str | None = None
    """When the keys were first recorded: the earlier Release owns an object that two render (D14)."""
    sent: bool | None = None
    """Only of planned keys: a request for them may have been sent."""
    items: Annotated[tuple[InventoryItem, ...], _ATOMIC]
    """The objects."""


_Groups = Annotated[tuple[InventoryGroup, ...], _ATOMIC]


class InventorySpec(ApiModel):
    """Written by the controller."""

    cluster_ref: LocalRef | None = None
    target_uid: Annotated[str | None, Field(alias="targetUID")] = None
    """UID of the kube-system namespace of the cluster that has the objects."""
    render_ref: str | None = None
    """Changes only when the exact set is written."""
    epoch: str | None = None
    """`<run id>/<attempt>` of the attempt that writes (fencing)."""
    objects: _Groups = ()
    """Applied, in apply order."""
    planned: _Groups = ()
    """About to be applied (D13)."""
    claims: _Groups = ()
    """Wanted, but another Release has it (D14)."""


class WaveHealth(ApiModel):
    """Health of a wave."""

    wave: int
    """Number of the wave."""
    phase: HealthPhase
    """That of its least healthy object."""


class UnhealthyObject(ApiModel):
    """An object that is not healthy."""

    ref: str
    """Kind, group, namespace and name."""
    phase: HealthPhase
    """How it is."""
    message: str | None = None
    """Why, for a person."""


class Health(ApiModel):
    """Health of a render."""

    render_ref: str | None = None
    """The render."""
    phase: HealthPhase | None = None
    """That of its least healthy object."""
    waves: Annotated[tuple[WaveHealth, ...], _ATOMIC] = ()
    """Wave by wave."""
    unhealthy: Annotated[tuple[UnhealthyObject, ...], _ATOMIC] = ()
    """The first 50 of them."""
    healthy_at: Time | None = None
    """When this render was healthy for the first time; it stays when an object breaks later."""


class InventoryStatus(ApiModel):
    """Written by the observer."""

    health: Health | None = None


class ReleaseInventory(Resource):
    """The objects that convoy applied for the Release of the same name. Only convoy may write it."""

    spec: InventorySpec = InventorySpec()
    status: InventoryStatus = InventoryStatus()
