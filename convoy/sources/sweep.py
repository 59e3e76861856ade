"""Keeps the working folder bounded: what nobody opened for a while goes, and is fetched again when needed."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path


def touch(path: Path) -> bool:
    """Note that something is in use; False if it is not there."""
    try:
        os.utime(path)
    except FileNotFoundError:
        return False
    return True


def sweep(folder: Path, *, older_than: float) -> None:
    """Remove the entries of a folder that were not touched for so many seconds; crashed work goes the same way."""
    limit = time.time() - older_than
    for entry in os.scandir(folder):
        try:
            if entry.stat(follow_symlinks=False).st_mtime < limit:
                shutil.rmtree(entry.path)
        except FileNotFoundError:
            continue  # another process swept it
