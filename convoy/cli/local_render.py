"""A render without a cluster: the worker's own renderer, with files in the place of the API server.

What a real target would say about a kind's scope comes from a table of the kinds that Kubernetes has itself.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from convoy.api.objects import Manifest
from convoy.api.release import Release
from convoy.api.rendered import Render
from convoy.cli.errors import Failure
from convoy.cli.local_files import Resources
from convoy.health.checks import health_checks
from convoy.kube.client import Endpoint, KubeClient
from convoy.kube.discovery import Capabilities
from convoy.kube.errors import NotFound
from convoy.kube.resources import Resource
from convoy.render.resolve import Renderer, RenderOptions
from convoy.sources.fetched import Fetched, SourceOptions
from convoy.store.cache import Cache
from convoy.store.crypto import InstallationKey
from convoy.store.renders import Renders

_BUILT_IN = frozenset(
    {
        "",
        "admissionregistration.k8s.io",
        "apiextensions.k8s.io",
        "apiregistration.k8s.io",
        "apps",
        "autoscaling",
        "batch",
        "certificates.k8s.io",
        "coordination.k8s.io",
        "discovery.k8s.io",
        "events.k8s.io",
        "flowcontrol.apiserver.k8s.io",
        "networking.k8s.io",
        "node.k8s.io",
        "policy",
        "rbac.authorization.k8s.io",
        "resource.k8s.io",
        "scheduling.k8s.io",
        "storage.k8s.io",
    }
)
_CLUSTER_SCOPED_GROUPS = frozenset(
    {
        "admissionregistration.k8s.io",
        "apiextensions.k8s.io",
        "apiregistration.k8s.io",
        "certificates.k8s.io",
        "flowcontrol.apiserver.k8s.io",
        "node.k8s.io",
        "scheduling.k8s.io",
    }
)
_CLUSTER_SCOPED = frozenset(
    {
        ("", "Namespace"),
        ("", "Node"),
        ("", "PersistentVolume"),
        ("networking.k8s.io", "IngressClass"),
        ("networking.k8s.io", "IPAddress"),
        ("networking.k8s.io", "ServiceCIDR"),
        ("rbac.authorization.k8s.io", "ClusterRole"),
        ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
        ("resource.k8s.io", "DeviceClass"),
        ("resource.k8s.io", "ResourceSlice"),
        ("storage.k8s.io", "CSIDriver"),
        ("storage.k8s.io", "CSINode"),
        ("storage.k8s.io", "StorageClass"),
        ("storage.k8s.io", "VolumeAttachment"),
        ("storage.k8s.io", "VolumeAttributesClass"),
    }
)
_CAPABILITIES = Capabilities("v1.34.0", ("v1",))
"""What a chart is told about the cluster; Helm itself adds the groups and kinds that Kubernetes has."""
_NOWHERE = Endpoint(server="http://127.0.0.1:9")


class BuiltInKinds:
    """What every Kubernetes knows about a kind; nothing about custom ones."""

    async def namespaced(self, group: str, kind: str) -> bool | None:
        """Return whether objects of the kind live in a namespace; None if it is a custom one."""
        if group not in _BUILT_IN:
            return None
        return group not in _CLUSTER_SCOPED_GROUPS and (group, kind) not in _CLUSTER_SCOPED

    async def capabilities(self) -> Capabilities:
        """Return the Kubernetes that charts are rendered for."""
        return _CAPABILITIES


class _Files(KubeClient):
    """The objects that the files hold, as if an API server had them."""

    def __init__(self, resources: Resources) -> None:
        super().__init__(_NOWHERE)
        self._resources = resources

    async def get(self, resource: Resource, namespace: str | None, name: str) -> Manifest:
        """Return an object of the files. Raises NotFound."""
        found = self._resources.find(resource.kind, name)
        if found is None:
            raise NotFound(f"the files hold no {resource.key(namespace, name)}", status=404)
        return found


def render_release(release: Release, resources: Resources, *, source: Path | None = None) -> Render:
    """Fetch and render a Release.

    Raises:
        ConvoyError: as a reconcile would end; the message names the file or the object.
        Failure: `source` cannot be read.
    """
    health_checks(release.spec.health_checks)
    if source is not None and not source.is_dir():
        raise Failure(f"--source {source} is no folder", code=2)
    fetched = _checkout(source) if source is not None else None
    with tempfile.TemporaryDirectory(prefix="kubectl-convoy-") as folder:
        return asyncio.run(_render(release, resources, Path(folder), fetched))


async def _render(release: Release, resources: Resources, folder: Path, fetched: Fetched | None) -> Render:
    # A key of its own: the ref of a render with Secrets is another one than the installation's (D40).
    key = InstallationKey(os.urandom(32))
    renders = Renders(None, Cache(folder / "renders"), key=key)
    options = RenderOptions(
        cache=folder / "sources",
        # The user's own machine and network: nothing to keep a tenant from.
        source=SourceOptions(allow_private_addresses=True),
    )
    async with _Files(resources) as home:
        renderer = Renderer(renders=renders, key=key, options=options)
        return await renderer.render(release, home=home, scope=BuiltInKinds(), fetched=fetched)


def _checkout(folder: Path) -> Fetched:
    """Return a folder as a source, read where it is: it may be big, and hold packed charts."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[Path]:
        yield folder

    return Fetched("checkout", f"folder:{folder.resolve()}", opened)
