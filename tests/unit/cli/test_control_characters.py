"""Whatever a target, a source or a server says, a terminal is given text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from convoy.cli.describe import describe_release
from convoy.cli.output import note, print_table, print_tree, say
from convoy.cli.plan import print_plan
from convoy.cli.style import printable
from tests.unit.api import full
from tests.unit.cli.running import run

HOSTILE = "\x1b[2J\x9b1m\x07\u202e"
SAFE = r"\u001b[2J\u009b1m\u0007\u202e"


def test_newline_and_tab_stay_and_so_does_all_text() -> None:
    assert printable("a\tb\nç – 漢字 🙂") == "a\tb\nç – 漢字 🙂"
    assert printable("a\rb\x00\x7f\ud800") == r"a\u000db\u0000\u007f\ud800"


def test_lines_and_tables(capsys: pytest.CaptureFixture[str]) -> None:
    say(HOSTILE)
    note(HOSTILE)
    print_table(["MESSAGE", "NAME"], [[f"{HOSTILE}\nmore", "shop"]])
    said = capsys.readouterr()
    assert said.out.splitlines() == [
        SAFE,
        "MESSAGE".ljust(len(SAFE) + 8) + "NAME",
        f"{SAFE} more   shop",
    ]
    assert said.err == SAFE + "\n"


def test_a_release_and_a_plan(capsys: pytest.CaptureFixture[str]) -> None:
    tree = {**full.release(), "status": full.release_status()}
    tree["status"]["conditions"][0]["message"] = HOSTILE
    for line in describe_release(tree):
        say(line)
    print_plan(
        {
            "renderRef": "sha256:1",
            "waves": [{"wave": 0, "objects": [{"kind": "Job", "name": "a", "origin": HOSTILE}]}],
            "warnings": [{"message": HOSTILE}],
            "prune": {"message": HOSTILE},
        }
    )
    said = capsys.readouterr().out
    assert said.count(SAFE) == 4
    assert not set(HOSTILE) - set("[2J1m") & set(said)


def test_an_error_is_text_too(tmp_path: Path) -> None:
    assert SAFE in run("validate", "-f", tmp_path / HOSTILE, code=2)


def test_data_stays_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    print_tree({"message": HOSTILE}, "json")
    assert json.loads(capsys.readouterr().out) == {"message": HOSTILE}
