"""From a Release to the render that it should have on its cluster: the same for a sync, a drift pass and a preview."""

from __future__ import annotations

from dataclasses import dataclass

from convoy.api.cluster import Cluster
from convoy.api.errors import ClusterNotReady, ConvoyError, Pinned
from convoy.api.objects import Manifest
from convoy.api.release import Release
from convoy.api.rendered import Render
from convoy.health.checks import health_checks
from convoy.kube.client import KubeClient
from convoy.kube.errors import ApiError, NotFound
from convoy.kube.resources import CLUSTERS
from convoy.kube.targets import Target, Targets
from convoy.render.resolve import Renderer
from convoy.store.renders import RenderMissing, Renders
from convoy.sync.desired_order import Origin, ends_rollback, pin_advice, stored_wishes
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
    origin: Origin
    pin_missing: bool = False
    """The Release has a pin that cannot be followed: a sync of it applies nothing and answers `Pinned`."""
    fault: str = ""
    """Beside a rollback: why the source gives no fresh render that could end it."""


class DesiredRenders:
    """Resolves Releases, for one process."""

    def __init__(
        self,
        home: KubeClient,
        *,
        targets: Targets,
        renderer: Renderer,
        renders: Renders,
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
        self._renders = renders
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
        """Return what a Release should have, for a comparison or a preview (`reference/drift`, The desired render).

        Raises:
            SourceNotReady, ValuesNotReady, ClusterNotReady, Unsupported: each naming what is at fault.
            DeployFailed: the render store did not answer.
        """
        return await self._resolve(release, to_apply=False)

    async def resolve_to_apply(self, release: Release) -> Desired:
        """Return what a sync of a Release applies: the same, except that a pin which is missing ends the sync.

        Raises:
            Pinned: the Release's pin cannot be followed.
            SourceNotReady, ValuesNotReady, ClusterNotReady, Unsupported, DeployFailed: as for `resolve`.
        """
        return await self._resolve(release, to_apply=True)

    async def resolve_fresh(self, release: Release) -> Desired:
        """Return what the source, the content and the mutations of a Release give now, whatever is stored.

        Raises:
            SourceNotReady, ValuesNotReady, ClusterNotReady, Unsupported, DeployFailed: as for `resolve`.
        """
        health_checks(release.spec.health_checks)
        destination = await self.destination(release)
        render = await self._fresh(release, destination.target)
        return self._desired(release, destination, render, Origin.FRESH)

    async def _resolve(self, release: Release, *, to_apply: bool) -> Desired:
        health_checks(release.spec.health_checks)  # a bad one must not be found after the apply
        destination = await self.destination(release)
        origin, render, missing = await self._stored(release)
        if missing and to_apply:
            raise Pinned(f"pin.renderRef: {missing}; {pin_advice(release)}")
        fault = ""
        if origin is Origin.LAST_HEALTHY:
            fix, fault = await self._fix(release, destination.target)
            origin, render = (Origin.FRESH, fix) if fix is not None else (origin, render)
        if render is None:
            render = await self._fresh(release, destination.target)
        return self._desired(release, destination, render, origin, pin_missing=bool(missing), fault=fault)

    def _desired(
        self,
        release: Release,
        destination: Destination,
        render: Render,
        origin: Origin,
        *,
        pin_missing: bool = False,
        fault: str = "",
    ) -> Desired:
        if self._own_namespace is not None and destination.target.uid == self._home_uid:
            refuse_own_namespace(render, self._own_namespace, release.lifecycle)
        return Desired(destination, render, origin, pin_missing=pin_missing, fault=fault)

    async def _fix(self, release: Release, target: Target) -> tuple[Render | None, str]:
        """Return the fresh render that ends a rollback, if it is another one than what failed; and why there is none.

        A source that fails ends no rollback: the last healthy render stays what is kept on the cluster.
        """
        try:
            render = await self._fresh(release, target)
        except ConvoyError as error:
            return None, f"{error.reason}: {error.message}"
        return (render if ends_rollback(release, render.ref) else None), ""

    async def _stored(self, release: Release) -> tuple[Origin, Render | None, str]:
        """Return the stored render that comes before a fresh one, if any, and why the pin is none."""
        missing = ""
        for wish in stored_wishes(release):
            try:
                render = await self._renders.load_published(release.metadata.uid, wish.render_ref)
            except RenderMissing as error:
                missing = str(error) if wish.origin is Origin.PIN else missing
            else:
                return wish.origin, render, missing
        return Origin.FRESH, None, missing

    async def _fresh(self, release: Release, target: Target) -> Render:
        try:
            return await self._renderer.render(release, home=self._home, scope=target.discovery)
        except ApiError as error:
            # Sources answer with SourceNotReady; what is left is the target's discovery.
            raise ClusterNotReady(f"Cluster {release.spec.cluster_ref.name}: {error.message}") from error
