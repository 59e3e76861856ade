"""A chart of a Helm repository: an `index.yaml` behind a URL, and packed charts that it points to.

An index that did not change costs one conditional request; what it says of the chart is noted. A chart whose digest the
index tells is fetched once. Credentials of the repository go to its own origin, not to wherever the index points.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from pathlib import Path
from typing import Final
from urllib.parse import urljoin

import msgspec

from convoy.api.errors import SourceNotReady, Unsupported
from convoy.api.source import HelmSource
from convoy.kube.client import KubeClient
from convoy.sources.fetched import Fetched, SourceOptions
from convoy.sources.helm_index import BadIndex, ChartVersion, chart_versions, choose_version
from convoy.sources.http import MAX_ARCHIVE, unpack_file
from convoy.sources.kept import Kept, Seen
from convoy.sources.login import read_keys
from convoy.sources.semver_range import BadRange
from convoy.sources.web import Login, Web, check_url, shown

MAX_INDEX: Final = 64 * 1024 * 1024
_SHA256: Final = re.compile(r"[0-9a-f]{64}")


async def fetch_helm(
    source: HelmSource, namespace: str, *, home: KubeClient, cache: Path, options: SourceOptions
) -> Fetched:
    """Find out which version of the chart is meant now. The folder is that of the chart itself.

    Raises:
        SourceNotReady: the repository cannot be read, lacks the chart or the version, or the chart has another
        digest than the index tells. Unsupported: the range is none, or the chart is no .tgz that convoy takes.
    """
    check_url(source.url, field="spec.source.helm.url")
    keys = await read_keys(source.secret_ref, namespace, home=home, field_path="spec.source.helm.secretRef")
    secret = source.secret_ref.name if source.secret_ref else ""
    kept = Kept.of(cache, "helm", namespace, source.url, secret, source.chart)
    repository = _Repository(source.url.rstrip("/") + "/", keys.login(), kept, options)
    versions = await repository.versions(source.chart)
    try:
        found = choose_version(versions, source.version)
    except BadRange as error:
        raise Unsupported(f"spec.source.helm.version: {error}") from None
    if found is None:
        what = f"no version {source.version!r} of chart" if versions else "no chart"
        raise SourceNotReady(f"{shown(source.url)} has {what} {source.chart}")
    if not _SHA256.fullmatch(found.digest):
        found = replace(found, digest=await repository.digest_of(found))

    async def fill(files: Path, scratch: Path) -> None:
        await repository.download(found, files, scratch)

    revision = f"{found.version}@sha256:{found.digest}"
    return Fetched(revision, f"chart:{found.digest}", lambda: kept.open(found.digest, fill))


class _Repository:
    def __init__(self, url: str, login: Login, kept: Kept, options: SourceOptions) -> None:
        self._url = url
        self._login = login
        self._kept = kept
        self._options = options

    async def versions(self, chart: str) -> list[ChartVersion]:
        """Return what the index says of a chart."""
        url = urljoin(self._url, "index.yaml")
        known = await self._kept.seen()
        async with Web.open(self._url, login=self._login, options=self._options) as web:
            reply = await web.get(url, most=MAX_INDEX, headers=known.conditions())
        if reply.status == 304 and known.value:
            return msgspec.json.decode(known.value, type=list[ChartVersion])
        if reply.status != 200:
            hint = " (are credentials missing?)" if reply.status in (401, 403) else ""
            raise SourceNotReady(f"{shown(url)} answers {reply.status}{hint}")
        try:
            versions = await asyncio.to_thread(chart_versions, reply.body, chart)
        except BadIndex as error:
            raise SourceNotReady(f"{shown(url)}: {error}") from None
        # Names in a repository's folder follow the index, also when it was moved by a redirect.
        versions = [replace(each, url=urljoin(self._url, each.url)) for each in versions]
        note = msgspec.json.encode(versions).decode()
        await self._kept.see(
            Seen(reply.headers.get("ETag", ""), reply.headers.get("Last-Modified", ""), note)
        )
        return versions

    async def digest_of(self, version: ChartVersion) -> str:
        """Return the digest of a chart of which the index does not tell it, by downloading it."""
        async with self._kept.work() as work:
            files = work / "files"
            await asyncio.to_thread(files.mkdir, 0o700)
            digest = await self.download(version, files, work)

            async def fill(target: Path, _: Path) -> None:
                await asyncio.to_thread(files.replace, target)

            async with self._kept.open(digest, fill):
                return digest

    async def download(self, version: ChartVersion, files: Path, scratch: Path) -> str:
        """Unpack a chart into `files` and return its digest."""
        archive = scratch / "chart.tgz"
        async with Web.open(self._url, login=self._login, options=self._options) as web:
            reply, digest = await web.download(version.url, archive, most=MAX_ARCHIVE)
        subject = shown(version.url)
        if reply.status != 200:
            raise SourceNotReady(f"{subject} answers {reply.status}")
        if version.digest and digest != version.digest:
            raise SourceNotReady(
                f"{subject} has the digest sha256:{digest}, the index says sha256:{version.digest}"
            )
        # A packed chart has one folder with the chart's name.
        await unpack_file(archive, files, subject=subject, strip=1)
        return digest
