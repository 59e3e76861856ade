"""`history`, `pin`, `unpin`, `rollback`, `suspend`, `resume`, `approve`."""

from __future__ import annotations

import json

import pytest

from convoy.api.objects import Manifest
from tests.e2e.cli.conftest import Cli
from tests.e2e.tenant import Tenant, config_map


@pytest.fixture
async def shop(tenant: Tenant) -> tuple[str, str]:
    """A Release that was applied twice; returns both renderRefs, oldest first."""
    await tenant.release("shop", {"a.yaml": config_map("a", tenant.namespace, v="1")})
    first = await tenant.applied("shop")
    await tenant.files("shop", {"a.yaml": config_map("a", tenant.namespace, v="2")})
    second = await tenant.applied("shop")
    return applied_ref(first), applied_ref(second)


def applied_ref(tree: Manifest) -> str:
    return str(tree["status"]["lastSuccessful"]["renderRef"])


async def test_history_shows_what_each_render_changed(cli: Cli, shop: tuple[str, str]) -> None:
    header, newest, oldest = (await cli("release", "history", "shop")).lines
    assert header.split()[:3] == ["RENDER", "REVISION", "APPLIED"]
    assert [newest.split()[0], oldest.split()[0]] == [ref.removeprefix("sha256:")[:12] for ref in shop[::-1]]
    assert "~1" in newest
    items = json.loads((await cli("release", "history", "shop", "-o", "json")).out)["items"]
    assert [item["renderRef"] for item in items] == list(shop[::-1])


async def test_a_pin_takes_what_history_shows(cli: Cli, tenant: Tenant, shop: tuple[str, str]) -> None:
    part = shop[0].removeprefix("sha256:")[:12]
    assert shop[0] in (await cli("release", "pin", "shop", part)).out
    assert (await tenant.get("shop"))["pin"] == {"renderRef": shop[0]}
    assert shop[0] in (await cli("release", "get", "shop")).out
    await cli("release", "unpin", "shop")
    assert "pin" not in await tenant.get("shop")


async def test_a_render_that_is_not_stored_is_refused_with_the_known_ones(
    cli: Cli, tenant: Tenant, shop: tuple[str, str]
) -> None:
    refused = await cli.refused("release", "pin", "shop", "sha256:" + "0" * 64)
    assert all(ref.removeprefix("sha256:")[:12] in refused for ref in shop)
    assert "no renderRef" in await cli.refused("release", "pin", "shop", "latest")
    assert "pin" not in await tenant.get("shop")


async def test_a_rollback_pins_the_render_before(cli: Cli, tenant: Tenant, shop: tuple[str, str]) -> None:
    done = await cli("release", "rollback", "shop")
    assert shop[0] in done.out
    assert "unpin" in done.error
    assert (await tenant.get("shop"))["pin"] == {"renderRef": shop[0]}


async def test_a_first_render_cannot_be_rolled_back(cli: Cli, tenant: Tenant) -> None:
    await tenant.release("blog", {"a.yaml": config_map("b", tenant.namespace)})
    await tenant.applied("blog")
    assert "no other render" in await cli.refused("release", "rollback", "blog")


async def test_suspend_and_resume(cli: Cli, tenant: Tenant) -> None:
    await tenant.release("blog", {"a.yaml": config_map("b", tenant.namespace)})
    await tenant.applied("blog")
    assert (await cli("release", "suspend", "blog")).lines == ["release.convoy.kumodo.io/blog suspended"]
    await tenant.applied("blog", "Suspended")
    assert (await cli("release", "resume", "blog")).lines == ["release.convoy.kumodo.io/blog resumed"]
    await tenant.applied("blog")


async def test_an_approval_that_nobody_waits_for_is_refused(cli: Cli, tenant: Tenant) -> None:
    await tenant.release("blog", {"a.yaml": config_map("b", tenant.namespace)})
    assert "no hook" in await cli.refused("release", "approve", "blog")
    assert await cli.refused("release", "approve", "blog", "--hook", "go")
