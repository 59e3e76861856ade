"""A running convoy for the tests of this folder, and the report of `make cases`."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Generator

import pytest

from activities.services import Services
from deploy.stack.local import Stack
from tests.e2e.harness.api import running_with_api
from tests.e2e.harness.convoy import Convoy
from tests.e2e.harness.process import ConvoyProcess
from tests.e2e.runner.report import CaseReport
from tests.e2e.tenant import Tenant, new_tenant
from workers.opening import open_services

_LOG = pytest.StashKey[tuple[ConvoyProcess, int]]()


def pytest_configure(config: pytest.Config) -> None:
    if os.environ.get("CONVOY_CASES"):
        config.pluginmanager.register(CaseReport(config), "case-report")


@pytest.fixture(scope="package")
async def convoy(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Convoy]:
    """One convoy for all tests of this folder, its API included; it ends before tests that want none."""
    async with running_with_api(stack, tmp_path_factory.mktemp("convoy")) as running:
        yield running


@pytest.fixture
async def tenant(convoy: Convoy) -> AsyncIterator[Tenant]:
    """A namespace of the test's own with the Cluster `here`."""
    async with new_tenant(convoy.home, convoy.temporal) as opened:
        yield opened


@pytest.fixture
async def services(convoy: Convoy) -> AsyncIterator[Services]:
    """What a second worker of this convoy works with."""
    async with open_services(convoy.settings, convoy.home, convoy.temporal) as opened:
        yield opened


@pytest.fixture(autouse=True)
def _log_of_the_test(request: pytest.FixtureRequest) -> None:
    """Note where convoy's log stands, for the report of a test that fails."""
    if "convoy" in request.fixturenames:
        process = request.getfixturevalue("convoy").process
        request.node.stash[_LOG] = (process, process.mark())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    log = item.stash.get(_LOG, None)
    if report.when == "call" and report.failed and log is not None:
        process, mark = log
        report.sections.append(("convoy's log", process.tail(mark)))
    return report
