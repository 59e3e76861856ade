"""Where the files of a Release come from."""

from __future__ import annotations

from typing import Annotated

from pydantic import StringConstraints

from convoy.api.common import ApiModel, LocalRef, Text

Url = Annotated[str, StringConstraints(min_length=1, max_length=2048)]
HttpUrl = Annotated[str, StringConstraints(pattern=r"^https?://", max_length=2048)]


class GitRef(ApiModel):
    """What to check out. Default: the repository's own default branch."""

    at_most_one_of = ("branch", "tag", "semver", "commit")

    branch: Text | None = None
    """The head of this branch."""
    tag: Text | None = None
    """This tag."""
    semver: Text | None = None
    """The highest tag in this range, for example `>=1.2 <2`."""
    commit: Annotated[str, StringConstraints(pattern=r"^[0-9a-fA-F]{7,64}$", max_length=64)] | None = None
    """This commit."""


class GitSource(ApiModel):
    """A git repository."""

    url: Url
    """A file, http(s) or ssh URL."""
    ref: GitRef = GitRef()
    secret_ref: LocalRef | None = None
    """A Secret with credentials in the Release's namespace."""


class OciSource(ApiModel):
    """An artifact in an OCI registry."""

    at_most_one_of = ("tag", "semver", "digest")

    url: Annotated[str, StringConstraints(pattern=r"^oci://", max_length=2048)]
    """`oci://host/repository`."""
    tag: Text | None = None
    """This tag. Default, where neither semver nor digest is set: `latest`."""
    semver: Text | None = None
    """The highest tag in this range."""
    digest: Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")] | None = None
    """The artifact with this digest."""
    secret_ref: LocalRef | None = None
    """A Secret with credentials in the Release's namespace."""
    insecure: bool = False
    """Plain HTTP. Default: false."""


class HelmSource(ApiModel):
    """A chart in a Helm repository."""

    url: HttpUrl
    """URL of the repository, which serves an `index.yaml`."""
    chart: Text
    """Name of the chart."""
    version: Text | None = None
    """An exact version or a semver range. Default: the latest stable version."""
    secret_ref: LocalRef | None = None
    """A Secret with credentials in the Release's namespace."""


class HttpSource(ApiModel):
    """One .tar.gz behind a URL."""

    url: HttpUrl
    """URL of the archive."""
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] | None = None
    """The digest that the archive must have."""


class InlineSource(ApiModel):
    """Files in the Release itself."""

    files: dict[str, str]
    """Path to content."""


class Source(ApiModel):
    """Where the files come from: exactly one of its fields."""

    one_of = ("git", "oci", "helm", "http", "configMap", "inline")

    git: GitSource | None = None
    oci: OciSource | None = None
    helm: HelmSource | None = None
    http: HttpSource | None = None
    config_map: LocalRef | None = None
    """A ConfigMap in the Release's namespace; each key is a file."""
    inline: InlineSource | None = None
