"""What `preview` tells a person."""

from __future__ import annotations

import pytest

from convoy.cli.plan import print_plan


def test_a_warning_names_its_object(capsys: pytest.CaptureFixture[str]) -> None:
    job = {"group": "batch", "kind": "Job", "namespace": "shop", "name": "migrate"}
    warnings = [{"message": "it comes before its namespace", "object": job}, {"message": "of no object"}]
    print_plan({"renderRef": "sha256:1", "warnings": warnings})
    assert capsys.readouterr().out.split("Warnings\n")[1].splitlines() == [
        "  Job.batch shop/migrate: it comes before its namespace",
        "  of no object",
    ]
