"""What the API server calls a kind: its group, version and plural, and the path where its objects live."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import quote

from convoy.api.names import GROUP, VERSION
from convoy.api.objects import ObjectKey


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind as one API server serves it."""

    group: str
    """Empty for the core group."""
    version: str
    kind: str
    plural: str
    namespaced: bool
    verbs: frozenset[str] = field(default=frozenset(), compare=False)
    """What the server says can be done with it; empty where nobody asked."""

    @property
    def api_version(self) -> str:
        """`apps/v1`, or `v1` for the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def is_secret(self) -> bool:
        """True if messages about its objects may hold a Secret's value."""
        return self.kind == "Secret" and self.group == ""

    def key(self, namespace: str | None, name: str) -> ObjectKey:
        """Return the identity of one object of this kind."""
        return ObjectKey(self.group, self.kind, (namespace or "") if self.namespaced else "", name)

    def path(
        self, namespace: str | None = None, name: str | None = None, subresource: str | None = None
    ) -> str:
        """Return the URL path of one object, or of the collection without a `name`.

        Without a `namespace` the collection is that of all namespaces.

        Raises:
            ValueError: `name` of a namespaced object without a namespace: the path would mean another thing.
        """
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        if self.namespaced and namespace:
            root += f"/namespaces/{_segment(namespace)}"
        elif self.namespaced and name:
            raise ValueError(f"{self.kind} {name} needs a namespace")
        parts = [root, self.plural]
        if name:
            parts.append(_segment(name))
            if subresource:
                parts.append(_segment(subresource))
        return "/".join(parts)


def _segment(text: str) -> str:
    # Names of roles hold colons, and a name of a bad render may hold anything: it must not change the path.
    if text in {".", ".."}:
        return text.replace(".", "%2E")
    return quote(text, safe=":")


NAMESPACES = Resource("", "v1", "Namespace", "namespaces", False)
SECRETS = Resource("", "v1", "Secret", "secrets", True)
CONFIG_MAPS = Resource("", "v1", "ConfigMap", "configmaps", True)
LEASES = Resource("coordination.k8s.io", "v1", "Lease", "leases", True)
EVENTS = Resource("events.k8s.io", "v1", "Event", "events", True)
JOBS = Resource("batch", "v1", "Job", "jobs", True)
STORAGE_CLASSES = Resource("storage.k8s.io", "v1", "StorageClass", "storageclasses", False)
CRDS = Resource("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", False)
RELEASES = Resource(GROUP, VERSION, "Release", "releases", True)
CLUSTERS = Resource(GROUP, VERSION, "Cluster", "clusters", True)
INVENTORIES = Resource(GROUP, VERSION, "ReleaseInventory", "releaseinventories", True)
