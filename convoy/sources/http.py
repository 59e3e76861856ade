"""One .tar.gz behind a URL.

With `sha256` an archive that is here already costs no request. Without it the server is asked whether it changed
(ETag, Last-Modified); one that knows neither sends the archive again each time.
"""

from __future__ import annotations

import asyncio
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from convoy.api.errors import SourceNotReady, Unsupported
from convoy.api.source import HttpSource
from convoy.sources.archive import BadArchive, unpack
from convoy.sources.fetched import Fetched, SourceOptions
from convoy.sources.kept import Kept, Seen
from convoy.sources.web import Login, Web, check_url, shown

MAX_ARCHIVE = 256 * 1024 * 1024
"""Bytes of an archive as it is downloaded."""


async def fetch_http(source: HttpSource, namespace: str, *, cache: Path, options: SourceOptions) -> Fetched:
    """Find out whether the archive changed, and download it if so.

    Raises:
        SourceNotReady: it cannot be fetched, or has another digest; the message names the URL.
        Unsupported: it is no .tar.gz that convoy takes.
    """
    check_url(source.url, field="spec.source.http.url")
    kept = Kept.of(cache, "http", namespace, source.url)
    sha256 = source.sha256 or await _newest(source.url, kept, options)

    async def fill(files: Path, scratch: Path) -> None:
        await _download(source.url, files, scratch, options, Seen(), wanted=sha256)

    name = PurePosixPath(urlsplit(source.url).path).name or "archive"
    return Fetched(f"{name}@sha256:{sha256}", f"http:{sha256}", lambda: kept.open(sha256, fill))


async def _newest(url: str, kept: Kept, options: SourceOptions) -> str:
    """Return the digest of what the server has now."""
    known = await kept.seen()
    if known.value and not await kept.has(known.value):
        known = Seen()
    async with kept.work() as work:
        files, scratch = work / "files", work / "scratch"
        for folder in (files, scratch):
            await asyncio.to_thread(folder.mkdir, 0o700)
        seen = await _download(url, files, scratch, options, known)
        if seen is known:
            return known.value

        async def fill(target: Path, _: Path) -> None:
            await asyncio.to_thread(files.replace, target)

        async with kept.open(seen.value, fill):
            await kept.see(seen)
    return seen.value


async def _download(
    url: str, files: Path, scratch: Path, options: SourceOptions, known: Seen, *, wanted: str | None = None
) -> Seen:
    """Unpack the archive into `files`; return `known` itself where the server says that it still holds."""
    archive = scratch / "archive"
    async with Web.open(url, login=Login(), options=options) as web:
        reply, sha256 = await web.download(url, archive, most=MAX_ARCHIVE, headers=known.conditions())
    if reply.status == 304 and known.value:
        return known
    if reply.status != 200:
        raise SourceNotReady(f"{shown(url)} answers {reply.status}")
    if wanted not in (None, sha256):
        raise SourceNotReady(f"{shown(url)} has the digest sha256:{sha256} and not sha256:{wanted}")
    await unpack_file(archive, files, subject=shown(url))
    return Seen(reply.headers.get("ETag", ""), reply.headers.get("Last-Modified", ""), sha256)


async def unpack_file(archive: Path, files: Path, *, subject: str, strip: int = 0) -> None:
    """Unpack a downloaded archive; raises Unsupported, its message beginning with `subject`."""

    def run() -> None:
        with archive.open("rb") as stream:
            unpack(stream, files, strip=strip)

    try:
        await asyncio.to_thread(run)
    except BadArchive as error:
        raise Unsupported(f"{subject}: {error}") from None
