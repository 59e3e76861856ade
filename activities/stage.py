"""What a step of the sync works on: the Release, its target, its render and its inventory, opened once a step."""

from __future__ import annotations

from dataclasses import dataclass

from activities.context import epoch, this_release
from activities.own_release import read_release
from activities.services import Services
from convoy.api.cluster import Cluster
from convoy.api.errors import Suspended
from convoy.api.names import ACCEPT_TARGET
from convoy.api.objects import Manifest, ObjectKey
from convoy.api.release import Release
from convoy.api.rendered import Render, RenderedObject
from convoy.kube.errors import NotFound
from convoy.kube.targets import Target
from convoy.sync.apply import entries_of
from convoy.sync.interruptions import Fenced
from convoy.sync.inventory import Entry
from convoy.sync.ledger import Ledger
from workflows.contract import Plan


@dataclass(frozen=True, slots=True)
class Stage:
    """One step's surroundings."""

    tree: Manifest
    release: Release
    cluster: Cluster
    target: Target
    render: Render
    waves: tuple[tuple[RenderedObject, ...], ...]
    """The waves of the render, ascending, each in render order."""
    wanted: tuple[Entry, ...]
    """The entries of the render in apply order: waves ascending, render order inside."""

    @property
    def keys(self) -> frozenset[ObjectKey]:
        """The keys of the render."""
        return frozenset(entry.key for entry in self.wanted)


async def open_stage(services: Services, plan: Plan) -> Stage:
    """Load what a step needs.

    Raises `Fenced` if the Release is another one than the plan's, `RenderMissing`, or `ClusterNotReady`.
    """
    try:
        tree = await read_release(services.home, plan.uid)
    except NotFound as error:
        raise Fenced(f"Release {this_release()} is gone") from error
    release = Release.read(tree)
    destination = await services.desired.destination(release)
    render = await services.renders.load(plan.uid, plan.render_ref)
    waves = tuple(wave for _, wave in render.waves())
    wanted = entries_of([item for wave in waves for item in wave])
    return Stage(tree, release, destination.cluster, destination.target, render, waves, wanted)


def refuse_suspended(stage: Stage) -> None:
    """Raise `Suspended` where the Release was suspended while its sync ran: what is not applied yet waits."""
    if stage.release.spec.suspend:
        raise Suspended("spec.suspend was set during the sync; set it to false to go on")


async def open_ledger(services: Services, stage: Stage) -> Ledger:
    """Open the inventory for this attempt; its first write fences every earlier one.

    Raises `ClusterNotReady` if the target is not the one that the inventory is about, or `DeployFailed`.
    """
    accepted = stage.cluster.metadata.annotations.get(ACCEPT_TARGET, "")
    return await Ledger.open(
        services.home,
        release=stage.release,
        target_uid=stage.target.uid,
        epoch=epoch(),
        accept_target=accepted,
    )
