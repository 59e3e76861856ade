"""From `spec.source` to a revision and a folder of files: the room's one entry."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from convoy.api.errors import Unsupported
from convoy.api.release import Release
from convoy.kube.client import KubeClient
from convoy.sources.config_map import fetch_config_map
from convoy.sources.fetched import Fetched, SourceOptions
from convoy.sources.git import fetch_git
from convoy.sources.helm_repository import fetch_helm
from convoy.sources.http import fetch_http
from convoy.sources.inline import fetch_inline
from convoy.sources.oci import fetch_oci
from convoy.sources.sweep import sweep

_OPEN_SECONDS: Final = 3600.0
_KEPT_SECONDS: Final = 7 * 24 * 3600.0
_KINDS: Final = ("git", "helm", "http", "oci")


def tidy(cache: Path) -> None:
    """Remove what crashed processes left, and checkouts that nobody opened for a week."""
    for folder, seconds in (
        (cache / "open", _OPEN_SECONDS),
        *((at, _KEPT_SECONDS) for kind in _KINDS for at in cache.glob(f"{kind}/*")),
    ):
        if folder.is_dir():
            sweep(folder, older_than=seconds)


async def fetch(
    release: Release, *, home: KubeClient, cache: Path, options: SourceOptions, key: bytes
) -> Fetched:
    """Find out where the source of a Release stands now. `key` is the installation's (D40).

    Raises:
        SourceNotReady: it cannot be reached or lacks what the Release asks for; the message names it.
        Unsupported: the source is nothing that convoy takes.
    """
    source = release.spec.source
    namespace = release.metadata.namespace
    if source.inline is not None:
        return fetch_inline(source.inline.files, cache=cache, key=key)
    if source.config_map is not None:
        return await fetch_config_map(namespace, source.config_map.name, home=home, cache=cache)
    if source.git is not None:
        return await fetch_git(source.git, namespace, home=home, cache=cache, options=options)
    if source.oci is not None:
        return await fetch_oci(source.oci, namespace, home=home, cache=cache, options=options)
    if source.helm is not None:
        return await fetch_helm(source.helm, namespace, home=home, cache=cache, options=options)
    if source.http is not None:
        return await fetch_http(source.http, namespace, cache=cache, options=options)
    raise Unsupported("spec.source has none of git, oci, helm, http, configMap and inline")
