"""From a Release to the render that it should have on its cluster: the same for a sync, a drift pass and a preview."""

from __future__ import annotations

from dataclasses import dataclass, replace

from convoy.api.cluster import Cluster
from convoy.api.errors import ClusterNotReady, ConvoyError, DeployFailed, Pinned
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
from convoy.sync.desired_order import Origin, ends_rollback, lost_rollback, pin_advice, stored_wishes
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
    lost: str = ""
    """Rolled back to a render that cannot be had, and what to do: a sync applies nothing and answers `DeployFailed`."""

    @property
    def to_apply(self) -> str:
        """The ref of the render that a sync would apply; empty where it would apply none."""
        return "" if self.pin_missing or self.lost else self.render.ref


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
        """Return what a sync of a Release applies: the same, except that a stored render which is missing ends it.

        Raises:
            Pinned: the Release's pin cannot be followed.
            DeployFailed: the last healthy render of a rollback is missing, and the fresh one is what failed.
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
        if Origin.PIN in missing and to_apply:
            raise Pinned(f"pin.renderRef: {missing[Origin.PIN]}; {pin_advice(release)}")
        fault = lost = ""
        if origin is Origin.LAST_HEALTHY:
            fix, fault = await self._fix(release, destination.target)
            origin, render = (Origin.FRESH, fix) if fix is not None else (origin, render)
        if render is None:
            render = await self._fresh(release, destination.target)
            if Origin.LAST_HEALTHY in missing and not ends_rollback(release, render.ref):
                lost = lost_rollback(release, missing[Origin.LAST_HEALTHY])
        if lost and to_apply:
            raise DeployFailed(lost)
        desired = self._desired(release, destination, render, origin)
        return replace(desired, pin_missing=Origin.PIN in missing, fault=fault, lost=lost)

    def _desired(self, release: Release, destination: Destination, render: Render, origin: Origin) -> Desired:
        if self._own_namespace is not None and destination.target.uid == self._home_uid:
            refuse_own_namespace(render, self._own_namespace, release.lifecycle)
        return Desired(destination, render, origin)

    async def _fix(self, release: Release, target: Target) -> tuple[Render | None, str]:
        """Return the fresh render that ends a rollback, if it is another one than what failed; and why there is none.

        A source that fails ends no rollback: the last healthy render stays what is kept on the cluster.
        """
        try:
            render = await self._fresh(release, target)
        except ConvoyError as error:
            return None, f"{error.reason}: {error.message}"
        return (render if ends_rollback(release, render.ref) else None), ""

    async def _stored(self, release: Release) -> tuple[Origin, Render | None, dict[Origin, str]]:
        """Return the stored render that comes before a fresh one, if any, and why those before it are missing."""
        missing: dict[Origin, str] = {}
        for wish in stored_wishes(release):
            try:
                render = await self._renders.load_published(release.metadata.uid, wish.render_ref)
            except RenderMissing as error:
                missing[wish.origin] = str(error)
            else:
                return wish.origin, render, missing
        return Origin.FRESH, None, missing

    async def _fresh(self, release: Release, target: Target) -> Render:
        try:
            return await self._renderer.render(release, home=self._home, scope=target.discovery)
        except ApiError as error:
            # Sources answer with SourceNotReady; what is left is the target's discovery.
            raise ClusterNotReady(f"Cluster {release.spec.cluster_ref.name}: {error.message}") from error
