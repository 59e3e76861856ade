"""The end of a Release: its objects pruned or left, then every finalizer that convoy has put, in an order
that a crash cannot break.

Objects first, while Cluster, Secret and inventory are still held; then the inventory, which tells other
Releases that this one needs no Cluster any more; then the Cluster and its Secret; the Release last. Each
step finds its work done if it runs again. A target that cannot be reached must not hold a namespace for ever,
so each failure says how to give it up.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import NoReturn

from convoy.api.errors import ClusterNotReady, ConvoyError, DeployFailed, PruneFailed
from convoy.api.names import ABANDON
from convoy.api.objects import Manifest
from convoy.api.release import Release
from convoy.kube.client import KubeClient
from convoy.kube.errors import ApiError, NotFound
from convoy.kube.resources import INVENTORIES
from convoy.kube.retry import with_retries
from convoy.kube.targets import Target
from convoy.sync.finalizers import let_cluster_go, let_inventory_go, let_release_go
from convoy.sync.inventory import Record
from convoy.sync.ledger import Ledger, is_of
from convoy.sync.ownership import Ownership
from convoy.sync.prune import Pruned, prune


@dataclass(frozen=True, slots=True)
class TornDown:
    """What became of the objects of a deleted Release."""

    pruned: Pruned
    """Empty unless `onDelete` is Prune."""
    left: int
    """Objects that stay on the cluster without a Release: orphaned, kept or abandoned."""


async def teardown(
    home: KubeClient,
    release: Release,
    *,
    connect: Callable[[], Awaitable[Target]],
    ownership: Ownership,
    epoch: str,
    should_stop: Callable[[], bool] = lambda: False,
) -> TornDown:
    """Tear a deleted Release down, and let it go.

    `connect` returns the target, or raises ClusterNotReady; it is not called where nothing is to be
    deleted. Nothing is created here, since the namespace may be going away. `prune.maxPercent` does not
    hold here.

    Raises:
        ClusterNotReady: the target cannot be reached; the message says how to abandon it.
        PruneFailed: some objects could not be deleted; the message says how to abandon them.
        DeployFailed: an object of convoy's own cannot be written.
        Interrupted, Fenced: another attempt goes on.
    """
    inventory = await _inventory(home, release)
    pruned, left = Pruned(), 0
    if inventory is not None and is_of(inventory, release):
        record = Record.from_tree(inventory.get("spec") or {})
        left = len(record.held())
        if left and release.spec.sync_policy.on_delete == "Prune" and not _abandoned(release):
            pruned = await _prune(
                home, release, record, connect, ownership, epoch=epoch, should_stop=should_stop
            )
            left = len(pruned.kept)
    if inventory is not None:
        await let_inventory_go(home, inventory)
    await let_cluster_go(home, release)
    await let_release_go(home, release)
    return TornDown(pruned, left)


async def _prune(
    home: KubeClient,
    release: Release,
    record: Record,
    connect: Callable[[], Awaitable[Target]],
    ownership: Ownership,
    *,
    epoch: str,
    should_stop: Callable[[], bool],
) -> Pruned:
    try:
        target = await connect()
        if record.target_uid != target.uid:
            raise ClusterNotReady(
                f"Cluster {record.cluster} is now another API server ({target.uid}) than the one that its "
                f"objects were applied to ({record.target_uid})"
            )
        ledger = await Ledger.open(home, release=release, target_uid=target.uid, epoch=epoch)
        return await prune(target, ledger, frozenset(), ownership, forced=True, should_stop=should_stop)
    except (ClusterNotReady, PruneFailed) as error:
        _say_how_to_abandon(error, record)


async def _inventory(home: KubeClient, release: Release) -> Manifest | None:
    namespace, name = release.metadata.namespace, release.metadata.name
    try:
        return await with_retries(lambda: home.get(INVENTORIES, namespace, name))
    except NotFound:
        return None
    except ApiError as error:
        raise DeployFailed(
            f"the ReleaseInventory {namespace}/{name} cannot be read: {error.message}"
        ) from error


def _abandoned(release: Release) -> bool:
    return release.metadata.annotations.get(ABANDON) == "true"


def _say_how_to_abandon(error: ConvoyError, record: Record) -> NoReturn:
    raise type(error)(
        f"{error.message}\nThe Release is being deleted with onDelete: Prune and waits for this. To give up and "
        f"leave its {len(record.held())} objects where they are, annotate it with {ABANDON}=true"
    ) from error
