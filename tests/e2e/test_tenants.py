"""Two tenants of one API server: what one may not write it holds against nobody (D13, D14).

`thief` acts as a service account that may read the other one's namespace and write to its own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.e2e.harness.convoy import Convoy
from tests.e2e.tenant import Tenant, applied_of, config_map, new_tenant
from tests.rights import allow_config_maps

MANUAL = {"automatic": False, "retryBackoff": {"initial": "1h"}}
PRUNE = {"prune": {"orphaned": True}}


@pytest.fixture
async def thief(convoy: Convoy, tenant: Tenant) -> AsyncIterator[Tenant]:
    async with new_tenant(convoy.home, convoy.temporal) as opened:
        user = f"system:serviceaccount:{opened.namespace}:deployer"
        await allow_config_maps(convoy.home, opened.namespace, user)
        await allow_config_maps(convoy.home, tenant.namespace, user, verbs=["get"])
        await opened.cluster("poor", {"inCluster": {}, "serviceAccountName": "deployer"})
        yield opened


async def test_a_forced_sync_without_rights_blocks_nobody(tenant: Tenant, thief: Tenant) -> None:
    loot = {f"{name}.yaml": config_map(name, tenant.namespace, by="thief") for name in ("hat", "cap")}
    await thief.release("app", loot, cluster="poor", policy=MANUAL)
    await thief.applied("app", "WaitingForSync")
    await thief.sync("app", force=True)
    tree = await thief.applied("app", "DeployFailed")
    assert f"{tenant.namespace}/cap" in applied_of(tree)["message"]
    await tenant.release("app", {f: text.replace("thief", "owner") for f, text in loot.items()})
    await tenant.applied("app")


async def test_a_sync_without_rights_takes_no_object_from_its_owner(tenant: Tenant, thief: Tenant) -> None:
    hat, cap = (config_map(name, tenant.namespace) for name in ("hat", "cap"))
    await tenant.release("app", {"hat.yaml": hat, "cap.yaml": cap}, policy=PRUNE)
    await tenant.applied("app")
    await thief.release("app", {"hat.yaml": hat}, cluster="poor")
    tree = await thief.applied("app", "Unappliable")
    assert f"ConfigMap {tenant.namespace}/hat" in applied_of(tree)["message"]
    assert f"the Release {tenant.namespace}" not in applied_of(tree)["message"], (
        "nor does it learn who has it"
    )
    await tenant.files("app", {"hat.yaml": None})
    await tenant.applied("app")
    assert await tenant.config_map("hat") is None, "pruned, and not left to one that may not write it"


async def test_a_forced_sync_that_waits_takes_no_object_from_its_owner(tenant: Tenant, thief: Tenant) -> None:
    hat, cap = (config_map(name, tenant.namespace) for name in ("hat", "cap"))
    await tenant.release("app", {"hat.yaml": hat, "cap.yaml": cap}, policy=PRUNE)
    await tenant.applied("app")
    await thief.release("app", {"hat.yaml": hat}, cluster="poor", policy=MANUAL)
    await thief.applied("app", "WaitingForSync")
    await thief.sync("app", force=True)
    await thief.applied("app", "WaitingForOwner")
    await tenant.files("app", {"hat.yaml": None})
    await tenant.applied("app")
    assert await tenant.config_map("hat") is None


async def test_a_claim_ends_when_the_release_that_waits_is_suspended(tenant: Tenant) -> None:
    hat, cap = (config_map(name, tenant.namespace) for name in ("hat", "cap"))
    await tenant.release("owner", {"hat.yaml": hat, "cap.yaml": cap}, policy=PRUNE)
    await tenant.applied("owner")
    await tenant.release("other", {"hat.yaml": hat})
    await tenant.applied("other", "WaitingForOwner")
    await tenant.patch("other", {"spec": {"suspend": True}})
    await tenant.applied("other", "Suspended")
    await tenant.files("owner", {"hat.yaml": None})
    await tenant.applied("owner")
    assert await tenant.config_map("hat") is None
