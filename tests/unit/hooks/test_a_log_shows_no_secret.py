"""A line of a log that shows a Secret's value goes; the others stay."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convoy.hooks.masking import DROPPED, without_secrets

VALUE = "p@ss word/äöü-2026!"


def shown(line: str, value: str = VALUE) -> bool:
    return without_secrets(["before", line, "after"], [value.encode()]) != ["before", DROPPED, "after"]


@pytest.mark.parametrize(
    "line",
    [
        f"connecting as shop with {VALUE}",
        f"postgres://shop:{quote(VALUE, safe='')}@db/shop",
        json.dumps({"password": VALUE}),
        f"Authorization: Basic {base64.b64encode(f'shop:{VALUE}'.encode()).decode()}",
        f"x{base64.b64encode(f'me:{VALUE}'.encode()).decode()}",
        f"x{base64.b64encode(VALUE.encode()).decode()}",
        f"…{VALUE[3:16]}",
    ],
)
def test_a_value_is_found_in_the_forms_that_programs_print(line: str) -> None:
    assert not shown(line)


def test_other_lines_stay() -> None:
    lines = ["migrating 12 tables", "relation orders does not exist", ""]

    assert without_secrets(lines, [VALUE.encode(), b""]) == lines


def test_each_line_of_a_long_value_counts() -> None:
    key = "-----BEGIN KEY-----\nAAAAB3NzaC1yc2EAAAADAQ\nshort\n-----END KEY-----"

    assert not shown("read AAAAB3NzaC1yc2EAAAADAQ", key)
    assert not shown("it is short", key)


def test_a_short_value_is_no_exception() -> None:
    assert not shown("pin is 0815", "0815")
    assert shown("two characters in base64 are cXE=, as in many a word", "q!")


def test_a_token_goes_also_where_nobody_knows_it() -> None:
    assert not shown("Bearer eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlcm5ldGVzIn0.c2ln", "other-value-here")


@given(st.binary(min_size=1, max_size=40), st.binary(max_size=5), st.binary(max_size=5))
def test_no_value_passes_as_it_is_nor_in_base64(value: bytes, before: bytes, after: bytes) -> None:
    text = value.decode(errors="replace").strip()
    lines = [base64.b64encode(before + value + after).decode()] if len(value) >= 12 else []
    lines += [f"x {line}" for line in text.splitlines() if line.strip()]

    assert without_secrets(lines, [value]) == [DROPPED] * len(lines)
