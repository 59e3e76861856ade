"""Unpack ready-made binaries: `python3 -m deploy.stack.unpack FROM INTO` prints their folder.

FROM holds `*.xz` and a SHA256SUMS of the unpacked files. They go into a folder below INTO that is named after
that list, so another list never meets old binaries. Runs on a bare Python, before any package is installed.
"""

from __future__ import annotations

import hashlib
import lzma
import shutil
import sys
from pathlib import Path


def unpack(source: Path, into: Path) -> Path:
    """Unpack what is missing, return the folder. Raises ValueError for a file that differs from the list."""
    sums = (source / "SHA256SUMS").read_bytes()
    folder = into / hashlib.sha256(sums).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    for line in sums.decode().splitlines():
        expected, _, name = line.partition(" ")
        target = folder / name.strip().lstrip("*")
        if not target.exists():
            _unpack_one(source / f"{target.name}.xz", target, expected)
    return folder


def _unpack_one(archive: Path, target: Path, expected: str) -> None:
    print(f"unpacking {target.name}", file=sys.stderr, flush=True)
    temporary = target.with_name(f"{target.name}.new")
    try:
        with lzma.open(archive) as packed, temporary.open("wb") as file:
            shutil.copyfileobj(packed, file, 1 << 20)
        with temporary.open("rb") as file:
            actual = hashlib.file_digest(file, "sha256").hexdigest()
        if actual != expected:
            raise ValueError(f"{archive}: unpacked SHA-256 is {actual}, listed is {expected}")
        temporary.chmod(0o755)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


if __name__ == "__main__":
    print(unpack(Path(sys.argv[1]), Path(sys.argv[2])))
