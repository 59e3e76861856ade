"""What the files of a Release are, and how they become manifests."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, StringConstraints

from convoy.api.common import ApiModel, LocalRef, Text

Pattern = Annotated[str, StringConstraints(min_length=1, max_length=1024)]


class ManifestsContent(ApiModel):
    """Plain YAML and JSON files."""

    include: Annotated[tuple[Pattern, ...], Field(max_length=256)] = ("*.yaml", "*.yml", "*.json")
    """Globs of the files to read. Default: `*.yaml`, `*.yml`, `*.json`."""
    exclude: Annotated[tuple[Pattern, ...], Field(max_length=256)] = ()
    """Globs of the files to leave out."""


class KustomizeContent(ApiModel):
    """A kustomization."""


class ValuesRef(ApiModel):
    """A key with Helm values in YAML: exactly one of configMapRef and secretRef."""

    one_of = ("configMapRef", "secretRef")

    config_map_ref: LocalRef | None = None
    secret_ref: LocalRef | None = None
    key: Text = "values.yaml"
    """Which of its keys holds the values. Default: `values.yaml`."""
    optional: bool = False
    """Whether it may be missing. Default: false."""


class HelmContent(ApiModel):
    """A Helm chart."""

    release_name: Annotated[str, StringConstraints(min_length=1, max_length=53)] | None = None
    """What the chart sees as the name of its release. Default: the name of the Release."""
    namespace: Annotated[str, StringConstraints(min_length=1, max_length=63)] = "default"
    """Where objects go that name no namespace. Default: `default`."""
    values: dict[str, Any] = Field(default_factory=dict)
    """Values in the Release; they win over those of valuesFrom."""
    values_from: Annotated[tuple[ValuesRef, ...], Field(max_length=64)] = ()
    """Values from ConfigMaps and Secrets, a later one wins."""
    include_crds: Annotated[bool, Field(alias="includeCRDs")] = True
    """Whether the CRDs in the chart's `crds` folder are applied too. Default: true."""


class Content(ApiModel):
    """What the files are: exactly one of manifests, kustomize and helm."""

    one_of = ("manifests", "kustomize", "helm")

    path: Annotated[str, StringConstraints(min_length=1, max_length=1024)] = "."
    """Folder inside the source. Default: `.`"""
    allow_empty: bool = False
    """Whether a render of zero objects is meant (D4). Default: false."""
    manifests: ManifestsContent | None = None
    kustomize: KustomizeContent | None = None
    helm: HelmContent | None = None
