"""Archives as people pack them, and as attackers do."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from typing import Any


def entry(name: str, data: bytes = b"", **fields: Any) -> tuple[tarfile.TarInfo, bytes]:
    """Return an entry; `fields` are those of TarInfo (type, linkname, size)."""
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for field, value in fields.items():
        setattr(info, field, value)
    return info, data


def link(name: str, target: str) -> tuple[tarfile.TarInfo, bytes]:
    return entry(name, type=tarfile.SYMTYPE, linkname=target)


def packed(*entries: tuple[tarfile.TarInfo, bytes], mode: str = "w:gz") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as tar:  # type: ignore[call-overload]
        for info, data in entries:
            tar.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def packed_files(files: Mapping[str, str], mode: str = "w:gz") -> bytes:
    return packed(*(entry(name, text.encode()) for name, text in files.items()), mode=mode)
