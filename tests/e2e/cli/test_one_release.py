"""`get`, `tree` and `events` tell a person how a Release stands."""

from __future__ import annotations

import json

from convoy.api.objects import Manifest
from tests.e2e.cli.conftest import Cli
from tests.e2e.tenant import Tenant, config_map


async def two_waves(tenant: Tenant) -> Manifest:
    files = {
        "1.yaml": config_map("first", tenant.namespace, wave=-1),
        "2.yaml": config_map("second", tenant.namespace, wave=2),
    }
    await tenant.release("shop", files)
    tree = await tenant.applied("shop")
    await tenant.in_sync("shop")
    return tree


async def test_get_shows_render_conditions_and_waves(cli: Cli, tenant: Tenant) -> None:
    tree = await two_waves(tenant)
    told = (await cli("release", "get", "shop")).out
    assert ["Namespace:", tenant.namespace] in [line.split() for line in told.splitlines()]
    assert tree["status"]["lastSuccessful"]["renderRef"] in told
    sections = [line for line in told.splitlines() if line.endswith(":")]
    assert sections == ["Conditions:", "Waves:"]
    waves = told.split("Waves:\n")[1].splitlines()
    assert [line.split()[0] for line in waves] == ["WAVE", "-1", "2"]
    assert all("1/1" in line for line in waves[1:])


async def test_get_prints_the_resource_in_every_format(cli: Cli, tenant: Tenant) -> None:
    await two_waves(tenant)
    assert json.loads((await cli("release", "get", "shop", "-o", "json")).out)["kind"] == "Release"
    assert "kind: Release" in (await cli("release", "get", "shop", "-o", "yaml")).lines
    assert (await cli("release", "get", "shop", "-o", "name")).lines == ["release.convoy.kumodo.io/shop"]
    header, row = (await cli("release", "get", "shop", "-o", "wide")).lines
    assert "APPLIED-MESSAGE" in header
    assert row.startswith("shop ")


async def test_tree_shows_the_objects_of_each_wave(cli: Cli, tenant: Tenant) -> None:
    await two_waves(tenant)
    root, *below = (await cli("release", "tree", "shop")).lines
    assert root.startswith(f"Release.convoy.kumodo.io {tenant.namespace}/shop Applied=True InSync=True")
    assert below == [
        "├── wave -1 Applied Healthy",
        f"│   └── ConfigMap {tenant.namespace}/first Healthy",
        "└── wave 2 Applied Healthy",
        f"    └── ConfigMap {tenant.namespace}/second Healthy",
    ]


async def test_tree_of_a_release_without_objects(cli: Cli, tenant: Tenant) -> None:
    await tenant.release("shop", {"a.yaml": config_map("a", tenant.namespace)}, policy={"automatic": False})
    await tenant.applied("shop", "WaitingForSync")
    (root,) = (await cli("release", "tree", "shop")).lines
    assert "Applied=False (WaitingForSync)" in root


async def test_events_tell_what_happened(cli: Cli, tenant: Tenant) -> None:
    await two_waves(tenant)
    header, *rows = (await cli("release", "events", "shop")).lines
    assert header.split() == ["LAST", "SEEN", "TYPE", "REASON", "MESSAGE"]
    assert any("SyncStarted" in row.split() for row in rows)
    items = json.loads((await cli("release", "events", "shop", "-o", "json")).out)["items"]
    assert {item["regarding"]["name"] for item in items} == {"shop"}
    assert len((await cli("release", "events", "shop", "-o", "name")).lines) == len(items)
