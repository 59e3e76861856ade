"""Where a tool's binary comes from (first version: a folder)."""
import os
from collections.abc import Callable
from pathlib import Path

Say = Callable[[str], None]


def acquire(name: str, *, say: Say = print) -> Path:
    """Return the binary."""
    return Path(os.environ["CONVOY_TOOLS"]) / name
