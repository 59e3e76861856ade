"""From a Release to the render that it should have on its cluster: the same for a sync and for a drift pass."""

from __future__ import annotations

from dataclasses import dataclass

from activities.services import Services
from convoy.api.cluster import Cluster
from convoy.api.errors import ClusterNotReady
from convoy.api.objects import Manifest
from convoy.api.release import Release
from convoy.api.rendered import Render
from convoy.api.unsupported import refuse_unsupported
from convoy.kube.errors import ApiError, NotFound
from convoy.kube.resources import CLUSTERS
from convoy.kube.targets import Target
from convoy.sync.own_namespace import refuse_own_namespace


@dataclass(frozen=True, slots=True)
class Desired:
    """A render and where it belongs."""

    cluster: Cluster
    cluster_tree: Manifest
    target: Target
    render: Render


async def load_cluster(services: Services, release: Release) -> Manifest:
    """Read the Cluster that a Release names; raises `ClusterNotReady`."""
    namespace, name = release.metadata.namespace, release.spec.cluster_ref.name
    try:
        return await services.home.get(CLUSTERS, namespace, name)
    except NotFound as error:
        raise ClusterNotReady(
            f"spec.clusterRef: there is no Cluster {namespace}/{name}; create it, or name another one in a new Release"
        ) from error


async def open_target(services: Services, release: Release) -> tuple[Manifest, Target]:
    """Return the Cluster of a Release and the connection to it; raises `ClusterNotReady`."""
    tree = await load_cluster(services, release)
    return tree, await services.targets.get(Cluster.read(tree))


async def resolve_desired(services: Services, release: Release) -> Desired:
    """Fetch, render and normalise what a Release declares.

    Raises `SourceNotReady`, `ClusterNotReady` or `Unsupported`, each naming what is at fault.
    """
    refuse_unsupported(release)
    tree, target = await open_target(services, release)
    try:
        render = await services.renderer.render(release, home=services.home, scope=target.discovery)
    except ApiError as error:
        # Sources answer with SourceNotReady; what is left is the target's discovery.
        raise ClusterNotReady(f"Cluster {release.spec.cluster_ref.name}: {error.message}") from error
    settings = services.settings
    if not settings.allow_own_namespace and target.uid == services.home_uid:
        refuse_own_namespace(render, settings.namespace)
    return Desired(Cluster.read(tree), tree, target, render)
