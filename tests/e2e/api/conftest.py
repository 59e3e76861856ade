"""A Release and its subresources."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.e2e.harness.api import Api
from tests.e2e.tenant import Tenant


@pytest.fixture
def api(tenant: Tenant) -> Callable[[str], Api]:
    """The subresources of a Release of the tenant, as the administrator."""
    return lambda name: Api(tenant.home, tenant.namespace, name)
