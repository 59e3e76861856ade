"""Writing case files for the tests of their reader."""

from __future__ import annotations

from pathlib import Path

HEAD = """\
kind: Case
id: X01
title: something happens
area: apply
rule: Apply
why: it might not
verified: true
"""


def write(folder: Path, body: str = "", *, head: str = HEAD) -> Path:
    path = folder / "01-case.yaml"
    path.write_text(head + body)
    return path
