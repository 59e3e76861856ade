"""Live objects with what convoy says of them and what kstatus says: `cases.yaml`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml

from convoy.api.objects import Manifest

_FILE = Path(__file__).with_name("cases.yaml")


@dataclass(frozen=True, slots=True)
class Case:
    """One object in one state."""

    name: str
    tree: Manifest
    phase: str
    says: str
    """A part of the message; empty: there is none."""
    kstatus: str
    differs: str
    """Why the two verdicts differ; empty: they do not."""


def _read(row: Manifest) -> Case:
    return Case(
        name=f"{row['object']['kind']}: {row['case']}",
        tree=row["object"],
        phase=row["phase"],
        says=row.get("says", ""),
        kstatus=row["kstatus"],
        differs=row.get("differs", ""),
    )


CASES = [_read(row) for row in yaml.safe_load(_FILE.read_text())]
