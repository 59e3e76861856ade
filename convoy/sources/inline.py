"""Files in the Release itself."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from convoy.sources.fetched import Fetched, digest_of, fetched_files


def fetch_inline(files: Mapping[str, str], *, cache: Path) -> Fetched:
    """Return the files of `spec.source.inline`.

    Raises:
        Unsupported: a file's name leads out of the folder.
    """
    content = {name: text.encode() for name, text in files.items()}
    revision = f"inline@sha256:{digest_of(content)[:12]}"
    return fetched_files(content, revision=revision, kind="inline", cache=cache)
