"""One stack for the tests of this folder, which nobody else uses: they kill what runs on it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from convoy.kube.connection import connect_kubeconfig
from deploy.stack.local import running
from tests.chaos.site import Site
from tests.e2e.harness.convoy import install, settings_of
from tests.e2e.tenant import Tenant, new_tenant
from workers.temporal import connect

PATIENCE = 300.0
"""Seconds that a wait may take: a worker that hangs or dies takes some tasks with it, each until its timeout."""


@pytest.fixture(scope="package")
async def _site(tmp_path_factory: pytest.TempPathFactory, say: Callable[[str], None]) -> AsyncIterator[Site]:
    folder: Path = tmp_path_factory.mktemp("site")
    with running(folder / "stack", durable=False, say=say) as stack:
        settings, environment = settings_of(stack, folder, {})
        async with await connect_kubeconfig(stack.kubeconfig) as home:
            await install(home, settings.namespace)
            yield Site(stack, folder, environment, home, await connect(settings))


@pytest.fixture
async def site(_site: Site) -> AsyncIterator[Site]:
    """The stack without any process of convoy; what a test starts ends with it."""
    yield _site
    await _site.close()


@pytest.fixture
async def tenant(site: Site) -> AsyncIterator[Tenant]:
    """A namespace of the test's own with the Cluster `here`."""
    async with new_tenant(site.home, site.client, patience=PATIENCE) as opened:
        yield opened
