"""A rollback and its end, from the command line: apply, drift pass, /diff and /preview follow the pin alike."""

from __future__ import annotations

import json
from typing import Any

import pytest

from convoy.api.objects import Manifest
from convoy.kube.resources import CONFIG_MAPS
from tests.e2e.cli.conftest import Cli
from tests.e2e.harness.convoy import condition_of
from tests.e2e.tenant import Tenant, config_map

MANUAL = {"automatic": False}


@pytest.fixture
async def renders(cli: Cli, tenant: Tenant) -> tuple[str, str]:
    """Two applied renders of a Release in manual mode, so that nothing heals; returns their refs, oldest first."""
    first = {
        "a.yaml": config_map("a", tenant.namespace, v="1"),
        "old.yaml": config_map("old", tenant.namespace),
    }
    await tenant.release("shop", first, policy=MANUAL | {"prune": {"orphaned": True}})
    await cli("release", "sync", "shop", "--wait")
    await tenant.files("shop", {"a.yaml": config_map("a", tenant.namespace, v="2"), "old.yaml": None})
    await cli("release", "sync", "shop", "--wait")
    newest, oldest = json.loads((await cli("release", "history", "shop", "-o", "json")).out)["items"]
    return oldest["renderRef"], newest["renderRef"]


async def answer(cli: Cli, command: str, code: int = 0) -> dict[str, Any]:
    tree: dict[str, Any] = json.loads((await cli("release", command, "shop", "-o", "json", code=code)).out)
    return tree


async def test_a_rollback_is_applied_and_compared_until_it_is_unpinned(
    cli: Cli, tenant: Tenant, renders: tuple[str, str]
) -> None:
    oldest, newest = renders

    await cli("release", "rollback", "shop")
    tree = await tenant.until("shop", applied(oldest), "the render before")
    assert await value(tenant) == "1"
    assert await tenant.config_map("old") is not None
    assert [entry["renderRef"] for entry in tree["status"]["history"]] == [oldest, newest, oldest]
    lines = (await cli("release", "history", "shop")).lines
    assert ["SyncRequested (pin)" in line for line in lines[1:]] == [True, False, False]
    preview = await answer(cli, "preview")
    assert (preview["desired"], preview["renderRef"]) == ("pin", oldest)
    assert (await answer(cli, "diff"))["inSync"]["status"] == "True"
    assert (await answer(cli, "check"))["verdict"] == "InSync"

    # The source moves on, and the pinned Release stays.
    await tenant.files("shop", {"a.yaml": config_map("a", tenant.namespace, v="3")})
    assert (await answer(cli, "diff"))["inSync"]["status"] == "True"

    await cli("release", "unpin", "shop")
    fresh = (await answer(cli, "preview"))["renderRef"]
    await tenant.until("shop", applied(fresh), "the fresh render")
    assert await value(tenant) == "3"
    assert await tenant.config_map("old") is None
    assert (await answer(cli, "preview"))["desired"] == "fresh"


async def test_diff_and_the_condition_of_a_pinned_release_say_the_same_of_the_same_live_changes(
    cli: Cli, tenant: Tenant, renders: tuple[str, str]
) -> None:
    oldest, _ = renders
    await cli("release", "pin", "shop", oldest)
    await tenant.until("shop", applied(oldest), "the pinned render")

    # What the newer render has would be no drift without the pin.
    await tenant.home.patch(CONFIG_MAPS, tenant.namespace, "a", {"data": {"v": "2"}}, manager="edit")
    await tenant.home.delete(CONFIG_MAPS, tenant.namespace, "old")
    diff = await answer(cli, "diff", code=1)
    check = await answer(cli, "check", code=1)

    condition = condition_of(await tenant.get("shop"), "InSync")
    assert diff["inSync"] == {name: condition[name] for name in ("status", "reason", "message")}
    assert condition["reason"] == check["verdict"] == "Drifted"
    drifted = [each for each in diff["objects"] if each["status"] != "InSync"]
    assert drifted == check["objects"]
    assert [(each["name"], each["status"]) for each in drifted] == [("a", "Modified"), ("old", "Missing")]
    assert drifted[0]["changes"][0]["desired"] == "1"


def applied(ref: str) -> Any:
    def check(tree: Manifest) -> bool:
        status = tree["status"]
        settled = "settledAt" in (status.get("sync") or {})
        return settled and (status.get("lastSuccessful") or {}).get("renderRef") == ref

    return check


async def value(tenant: Tenant) -> str:
    live = await tenant.config_map("a")
    return str(live["data"]["v"]) if live is not None else ""
