"""Fetch a tool's official binary and check its SHA-256 against the one published beside it.

Hazard: on a machine without internet access each attempt may hang until the system's timeout. A host is tried
once with a short timeout, and counts as unreachable for the rest of the run when that fails.
"""

from __future__ import annotations

import functools
import hashlib
import http.client
import platform
import socket
import sys
import tarfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path

from deploy.stack.pins import Tool

_CONNECT_WITHIN = 5.0
_READ_WITHIN = 30.0
_CHUNK = 1 << 20
_ARCHITECTURES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


class DownloadFailed(Exception):
    """The binary cannot be downloaded, or is not what its checksum says."""


def download(tool: Tool, into: Path, say: Callable[[str], None]) -> None:
    """Write the binary to `into`. Raises DownloadFailed; `into` exists only after success."""
    source = tool.download
    system, arch = sys.platform, _ARCHITECTURES.get(platform.machine().lower(), platform.machine())
    if source is None or system not in source.systems:
        raise DownloadFailed(f"there is no official download with a checksum for {system}/{arch}")
    fill = functools.partial(tool.fill, system=system, arch=arch)
    url = fill(source.url)
    temporary = into.with_name(f"{into.name}.download")
    try:
        expected = _checksum(fill(source.checksum), file=urllib.parse.unquote(url.rpartition("/")[2]))
        say(f"{tool.name} {tool.version}: downloading {url}")
        actual = _fetch(url, temporary, say)
        if actual != expected:
            raise DownloadFailed(f"{url} has SHA-256 {actual}, published is {expected}")
        if source.member:
            _unpack(temporary, fill(source.member))
        temporary.chmod(0o755)
        temporary.replace(into)
    except (OSError, tarfile.TarError, KeyError) as error:
        raise DownloadFailed(f"{url}: {error}") from error
    finally:
        temporary.unlink(missing_ok=True)


def _checksum(url: str, *, file: str) -> str:
    with _open(url) as answer:
        lines = [line.split() for line in answer.read().decode().splitlines() if line.strip()]
    if len(lines) == 1 and len(lines[0]) == 1:
        return lines[0][0].lower()
    for fields in lines:
        if len(fields) == 2 and fields[1].lstrip("*") == file:
            return fields[0].lower()
    raise DownloadFailed(f"{url} has no checksum of {file}")


def _fetch(url: str, into: Path, say: Callable[[str], None]) -> str:
    digest = hashlib.sha256()
    done, told = 0, time.monotonic()
    with _open(url) as answer, into.open("wb") as file:
        total = int(answer.headers.get("Content-Length") or 0)
        while chunk := answer.read(_CHUNK):
            file.write(chunk)
            digest.update(chunk)
            done += len(chunk)
            if time.monotonic() - told > 3:
                told = time.monotonic()
                say(f"  {done >> 20} of {total >> 20} MiB")
    return digest.hexdigest()


def _open(url: str) -> http.client.HTTPResponse:
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in urllib.request.getproxies():
        reason = _unreachable(parts.hostname or "", parts.port or 443)
        if reason:
            raise OSError(reason)
    try:
        answer: http.client.HTTPResponse = urllib.request.urlopen(url, timeout=_READ_WITHIN)
    except urllib.error.HTTPError as error:
        error.close()
        raise
    return answer


@functools.cache
def _unreachable(host: str, port: int) -> str:
    try:
        socket.create_connection((host, port), timeout=_CONNECT_WITHIN).close()
    except OSError as error:
        return f"{host} is unreachable: {error}"
    return ""


def _unpack(archive: Path, member: str) -> None:
    with tarfile.open(archive) as tar:
        binary = tar.extractfile(member)
        if binary is None:
            raise DownloadFailed(f"{member} is no file in the archive")
        with binary:
            data = binary.read()
    archive.write_bytes(data)
