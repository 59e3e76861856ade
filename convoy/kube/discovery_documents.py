"""The documents of discovery, as an API server sends them: aggregated, or group by group."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from convoy.kube.resources import Resource


class _Kind(msgspec.Struct):
    kind: str = ""


class _Found(msgspec.Struct):
    resource: str
    responseKind: _Kind | None = None
    scope: str = ""
    verbs: list[str] = []


class _Version(msgspec.Struct):
    version: str
    resources: list[_Found] = []
    freshness: str = ""


class _Meta(msgspec.Struct):
    name: str = ""


class _Group(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)
    versions: list[_Version] = []


class Aggregated(msgspec.Struct):
    """An APIGroupDiscoveryList: every group at once."""

    kind: str
    items: list[_Group] = []

    def resources(self) -> Iterator[Resource]:
        """Yield all that is served."""
        for group in self.items:
            for version in group.versions:
                for item in version.resources:
                    if item.responseKind is None or not item.responseKind.kind:
                        continue
                    yield Resource(
                        group.metadata.name,
                        version.version,
                        item.responseKind.kind,
                        item.resource,
                        item.scope == "Namespaced",
                        frozenset(item.verbs),
                    )

    def stale(self) -> frozenset[str]:
        """Return the groups of aggregated APIs that do not answer the API server at the moment."""
        return frozenset(
            group.metadata.name
            for group in self.items
            if any(version.freshness == "Stale" for version in group.versions)
        )


class _LegacyVersion(msgspec.Struct):
    version: str


class _LegacyGroup(msgspec.Struct):
    name: str = ""
    versions: list[_LegacyVersion] = []


class LegacyGroups(msgspec.Struct):
    """An APIVersions or an APIGroupList."""

    kind: str = ""
    groups: list[_LegacyGroup] = []
    versions: list[str] = []

    def pairs(self, *, core: bool) -> list[tuple[str, str]]:
        """Return group and version of each document that is left to ask for."""
        if core:
            return [("", version) for version in self.versions]
        return [(group.name, version.version) for group in self.groups for version in group.versions]


class _LegacyFound(msgspec.Struct):
    name: str
    kind: str = ""
    namespaced: bool = False
    verbs: list[str] = []


class LegacyResources(msgspec.Struct):
    """An APIResourceList: one version of one group."""

    resources: list[_LegacyFound] = []

    def of(self, group: str, version: str) -> Iterator[Resource]:
        """Yield what is served, subresources left out."""
        for item in self.resources:
            if "/" not in item.name:
                yield Resource(group, version, item.kind, item.name, item.namespaced, frozenset(item.verbs))
