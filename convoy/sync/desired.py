"""From a Release to the render that it should have on its cluster: the same for a sync, a drift pass and a preview."""

from __future__ import annotations

from dataclasses import dataclass

from convoy.api.cluster import Cluster
from convoy.api.errors import ClusterNotReady
from convoy.api.objects import Manifest
from convoy.api.release import Release
from convoy.api.rendered import Render
from convoy.api.unsupported import refuse_unsupported
from convoy.kube.client import KubeClient
from convoy.kube.errors import ApiError, NotFound
from convoy.kube.resources import CLUSTERS
from convoy.kube.targets import Target, Targets
from convoy.render.resolve import Renderer
from convoy.sync.own_namespace import refuse_own_namespace


@dataclass(frozen=True, slots=True)
class Destination:
    """Where the objects of a Release belong."""

    cluster: Cluster
    tree: Manifest
    """The Cluster as the API server gave it."""
    target: Target


@dataclass(frozen=True, slots=True)
class Desired:
    """A render and where it belongs."""

    destination: Destination
    render: Render


class DesiredRenders:
    """Resolves Releases, for one process."""

    def __init__(
        self,
        home: KubeClient,
        *,
        targets: Targets,
        renderer: Renderer,
        home_uid: str,
        own_namespace: str | None,
    ) -> None:
        """Bind what resolving needs.

        `home_uid` is the UID of the home cluster's kube-system namespace, `own_namespace` the namespace there that
        no Release may apply to (D16), or None.
        """
        self._home = home
        self._targets = targets
        self._renderer = renderer
        self._home_uid = home_uid
        self._own_namespace = own_namespace

    async def destination(self, release: Release) -> Destination:
        """Return the Cluster of a Release and the connection to it; raises `ClusterNotReady`."""
        namespace, name = release.metadata.namespace, release.spec.cluster_ref.name
        try:
            tree = await self._home.get(CLUSTERS, namespace, name)
        except NotFound as error:
            raise ClusterNotReady(
                f"spec.clusterRef: there is no Cluster {namespace}/{name}; create it, or name another one in a "
                "new Release"
            ) from error
        cluster = Cluster.read(tree)
        return Destination(cluster, tree, await self._targets.get(cluster))

    async def resolve(self, release: Release) -> Desired:
        """Fetch, render and normalise what a Release declares.

        Raises `SourceNotReady`, `ClusterNotReady` or `Unsupported`, each naming what is at fault.
        """
        refuse_unsupported(release)
        destination = await self.destination(release)
        target = destination.target
        try:
            render = await self._renderer.render(release, home=self._home, scope=target.discovery)
        except ApiError as error:
            # Sources answer with SourceNotReady; what is left is the target's discovery.
            raise ClusterNotReady(f"Cluster {release.spec.cluster_ref.name}: {error.message}") from error
        if self._own_namespace is not None and target.uid == self._home_uid:
            refuse_own_namespace(render, self._own_namespace)
        return Desired(destination, render)
