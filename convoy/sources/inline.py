"""Files in the Release itself."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from pathlib import Path

from convoy.sources.fetched import Fetched, digest_of, fetched_files


def fetch_inline(files: Mapping[str, str], *, cache: Path, key: bytes) -> Fetched:
    """Return the files of `spec.source.inline`.

    The revision is told in events, messages and Temporal's payloads, to people who may not read the Release. The files
    may hold Secrets, so it is keyed with the installation's `key`: a bare digest would let them try out weak passwords
    (D40).

    Raises:
        Unsupported: a file's name leads out of the folder.
    """
    content = {name: text.encode() for name, text in files.items()}
    mac = hmac.digest(key, b"inline\x00" + digest_of(content).encode(), hashlib.sha256)
    revision = f"inline@sha256:{mac.hex()[:12]}"
    return fetched_files(content, revision=revision, kind="inline", cache=cache)
