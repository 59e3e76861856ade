"""Every case of a folder, through the whole product: `make cases DIR=folder`; without it, convoy's own cases."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.e2e.harness.convoy import Convoy
from tests.e2e.runner.case import BadCase, Tokens, name_of, read_case
from tests.e2e.runner.run import run_case
from tests.e2e.runner.world import CaseFailed

FOLDER = Path(os.environ.get("CONVOY_CASES") or Path(__file__).parent / "cases")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    paths = sorted(FOLDER.glob("*.yaml"))
    if not paths:
        raise pytest.UsageError(f"there is no case file (*.yaml) in {FOLDER}")
    metafunc.parametrize("path", paths, ids=[name_of(path) for path in paths])


async def test_case(path: Path, convoy: Convoy) -> None:
    tokens = Tokens()
    try:
        case = read_case(path, tokens)
    except BadCase as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None
    try:
        await run_case(convoy, case, tokens)
    except CaseFailed as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None
