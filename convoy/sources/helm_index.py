"""A Helm repository's `index.yaml`: which versions of a chart there are. Pure.

Indexes of thousands of charts have tens of megabytes and are written by strangers, so all scalars stay texts and no
merge key is resolved: neither can an alias write out to more than the file, nor does `1.10` become 1.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import yaml
from yaml.cyaml import CBaseLoader

from convoy.sources.semver_range import highest

_MAX_VERSIONS: Final = 10_000


class BadIndex(ValueError):
    """The file is no index."""


@dataclass(frozen=True, slots=True)
class ChartVersion:
    """One version of a chart."""

    version: str
    url: str
    """Absolute, or relative to the repository's."""
    digest: str
    """SHA-256 of the packed chart in hex; empty where the index does not say."""


def chart_versions(data: bytes, chart: str) -> list[ChartVersion]:
    """Return the versions of a chart; empty where the repository lacks it.

    Raises:
        BadIndex: the file is no index.
    """
    try:
        tree: Any = yaml.load(data, Loader=CBaseLoader)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError):
        raise BadIndex("it is no YAML") from None
    entries = tree.get("entries") if isinstance(tree, dict) else None
    if not isinstance(entries, dict):
        raise BadIndex("it has no entries")
    found = entries.get(chart) or []
    versions = [_version(entry) for entry in found[:_MAX_VERSIONS]] if isinstance(found, list) else []
    return [version for version in versions if version is not None]


def choose_version(versions: list[ChartVersion], wanted: str | None) -> ChartVersion | None:
    """Return the version of this name, or the highest in this range; None asks for the highest stable one.

    Raises:
        BadRange: `wanted` is neither.
    """
    by_name = {version.version: version for version in reversed(versions)}
    if wanted is not None and wanted in by_name:
        return by_name[wanted]
    name = highest(by_name, wanted or "*")
    return by_name[name] if name is not None else None


def _version(entry: Any) -> ChartVersion | None:
    if not isinstance(entry, dict):
        return None
    version, urls, digest = entry.get("version"), entry.get("urls"), entry.get("digest") or ""
    if not isinstance(version, str) or not isinstance(urls, list) or not urls or not isinstance(urls[0], str):
        return None
    digest = digest.removeprefix("sha256:").lower() if isinstance(digest, str) else ""
    return ChartVersion(version, urls[0], digest)
